//@ verdict: safe
//@ deadlocks: none
// Fast Fourier transform of radix 2, forth and back. The workers share the butterflies of each stage, with a barrier after it.
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_WORKERS 16
#define PI 3.14159265358979323846

struct complex {
    double re, im;
};

static struct complex *data, *roots;
static int n, bits, workers;
static int ids[MAX_WORKERS];
static pthread_barrier_t barrier;

static int reversed(int i)
{
    int r = 0, b;
    for (b = 0; b < bits; b++)
        r |= (i >> b & 1) << (bits - 1 - b);
    return r;
}

static void transform(int id, double sign)
{
    int from = n * id / workers, to = n * (id + 1) / workers, half, i;
    for (i = from; i < to; i++) {
        int j = reversed(i);
        if (i < j) {
            struct complex t = data[i]; // NORACE: data
            data[i] = data[j]; // NORACE: data
            data[j] = t; // NORACE: data
        }
    }
    pthread_barrier_wait(&barrier);
    for (half = 1; half < n; half *= 2) {
        for (i = from / 2; i < to / 2; i++) {
            int low = i / half * 2 * half + i % half, high = low + half;
            struct complex w = roots[i % half * (n / 2 / half)], a = data[low], b = data[high]; // NORACE: data
            double re = b.re * w.re - sign * b.im * w.im, im = b.im * w.re + sign * b.re * w.im;
            data[low].re = a.re + re; // NORACE: data
            data[low].im = a.im + im; // NORACE: data
            data[high].re = a.re - re; // NORACE: data
            data[high].im = a.im - im; // NORACE: data
        }
        pthread_barrier_wait(&barrier);
    }
}

static void *worker(void *arg)
{
    int id = *(int *)arg;
    transform(id, 1);
    transform(id, -1);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[MAX_WORKERS];
    double worst = 0;
    int i;

    workers = argc > 1 ? atoi(argv[1]) : 4;
    bits = argc > 2 ? atoi(argv[2]) : 10;
    if (workers < 1 || workers > MAX_WORKERS || bits < 5 || bits > 24)
        return 2;
    n = 1 << bits;
    data = calloc(n, sizeof *data);
    roots = calloc(n / 2, sizeof *roots);
    for (i = 0; i < n; i++)
        data[i].re = i % 17;
    for (i = 0; i < n / 2; i++) {
        roots[i].re = cos(2 * PI * i / n);
        roots[i].im = sin(2 * PI * i / n);
    }
    pthread_barrier_init(&barrier, NULL, workers);
    for (i = 0; i < workers; i++) {
        ids[i] = i;
        pthread_create(&thread[i], NULL, worker, &ids[i]);
    }
    for (i = 0; i < workers; i++)
        pthread_join(thread[i], NULL);
    for (i = 0; i < n; i++)
        worst = fmax(worst, fabs(data[i].re / n - i % 17));
    printf("largest error %s\n", worst < 1e-9 ? "below 1e-9" : "too large");
    free(data);
    free(roots);
    return worst >= 1e-9;
}
