/* Matrix multiply with a barrier: THREADS threads, each a band of rows, ROUNDS products of the last result with the same matrix. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef N
#define N 400
#endif
#define THREADS 4
#define ROUNDS 3

static double *a, *b, *c;
static pthread_barrier_t barrier;

static void *worker(void *arg)
{
    int number = (int)(long)arg, from = number * N / THREADS, to = (number + 1) * N / THREADS;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = from; i < to; i++)
            for (int j = 0; j < N; j++) {
                double sum = 0;
                for (int k = 0; k < N; k++)
                    sum += a[i * N + k] * b[k * N + j];
                c[i * N + j] = sum;
            }
        pthread_barrier_wait(&barrier);
        for (int i = from * N; i < to * N; i++)
            a[i] = c[i] / N;
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    a = malloc(sizeof(double) * N * N);
    b = malloc(sizeof(double) * N * N);
    c = malloc(sizeof(double) * N * N);
    for (int i = 0; i < N * N; i++) {
        a[i] = i % 17;
        b[i] = i % 13;
    }
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    double sum = 0;
    for (int i = 0; i < N * N; i++)
        sum += a[i];
    printf("%.3f\n", sum);
    return 0;
}
