//@ verdict: safe
//@ deadlocks: none
// LU factorisation by blocks in one array of rows: blocks of different workers lie next to each other in a row.
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_WORKERS 16

static int n, block, blocks, workers;
static int ids[MAX_WORKERS];
static pthread_barrier_t barrier;
static double *matrix;

/* Row `r` of the block in block row `i` and block column `j`. */
static double *row(int i, int j, int r)
{
    return matrix + (long)(i * block + r) * n + j * block;
}

static int owner(int i, int j)
{
    return (i * 2 + j) % workers;
}

static void factor_diagonal(int k)
{
    int p, r, c;
    for (p = 0; p < block; p++)
        for (r = p + 1; r < block; r++) {
            double *pivot = row(k, k, p), *below = row(k, k, r), factor = below[p] / pivot[p];
            below[p] = factor;
            for (c = p + 1; c < block; c++)
                below[c] -= factor * pivot[c]; // NORACE: matrix
        }
}

/* The block right of the diagonal: solves with the lower triangle. */
static void solve_right(int k, int j)
{
    int p, r, c;
    for (p = 0; p < block; p++)
        for (r = p + 1; r < block; r++) {
            double *from = row(k, j, p), *to = row(k, j, r), factor = row(k, k, r)[p];
            for (c = 0; c < block; c++)
                to[c] -= factor * from[c]; // NORACE: matrix
        }
}

/* The block below the diagonal: solves with the upper triangle. */
static void solve_below(int i, int k)
{
    int p, r, c;
    for (r = 0; r < block; r++)
        for (p = 0; p < block; p++) {
            double *line = row(i, k, r), *pivot = row(k, k, p);
            line[p] /= pivot[p]; // NORACE: matrix
            for (c = p + 1; c < block; c++)
                line[c] -= line[p] * pivot[c]; // NORACE: matrix
        }
}

static void update(int i, int j, int k)
{
    int p, r, c;
    for (r = 0; r < block; r++)
        for (p = 0; p < block; p++) {
            double *to = row(i, j, r), *from = row(k, j, p), factor = row(i, k, r)[p];
            for (c = 0; c < block; c++)
                to[c] -= factor * from[c]; // NORACE: matrix
        }
}

static void *worker(void *arg)
{
    int id = *(int *)arg, i, j, k;
    for (k = 0; k < blocks; k++) {
        if (owner(k, k) == id)
            factor_diagonal(k);
        pthread_barrier_wait(&barrier);
        for (i = k + 1; i < blocks; i++) {
            if (owner(k, i) == id)
                solve_right(k, i);
            if (owner(i, k) == id)
                solve_below(i, k);
        }
        pthread_barrier_wait(&barrier);
        for (i = k + 1; i < blocks; i++)
            for (j = k + 1; j < blocks; j++)
                if (owner(i, j) == id)
                    update(i, j, k);
    }
    return NULL;
}

static double element(int i, int j)
{
    return i == j ? n + 1.0 : (i * 7 + j * 3) % 11 / 11.0;
}

/* The product of the factors at a few places, against the matrix that was given. */
static double worst_error(void)
{
    double worst = 0;
    int s, k;
    for (s = 0; s < 64; s++) {
        int i = s * 37 % n, j = s * 53 % n;
        double sum = 0;
        for (k = 0; k <= i && k <= j; k++)
            sum += (k == i ? 1 : row(i / block, k / block, i % block)[k % block]) * row(k / block, j / block, k % block)[j % block];
        worst = fmax(worst, fabs(sum - element(i, j)));
    }
    return worst;
}

int main(int argc, char **argv)
{
    pthread_t thread[MAX_WORKERS];
    double worst;
    int i, j;

    workers = argc > 1 ? atoi(argv[1]) : 4;
    n = argc > 2 ? atoi(argv[2]) : 104;
    block = argc > 3 ? atoi(argv[3]) : 8;
    if (workers < 1 || workers > MAX_WORKERS || block < 1 || n < block || n % block)
        return 2;
    blocks = n / block;
    matrix = malloc(sizeof *matrix * n * n);
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            row(i / block, j / block, i % block)[j % block] = element(i, j);
    pthread_barrier_init(&barrier, NULL, workers);
    for (i = 0; i < workers; i++) {
        ids[i] = i;
        pthread_create(&thread[i], NULL, worker, &ids[i]);
    }
    for (i = 0; i < workers; i++)
        pthread_join(thread[i], NULL);
    worst = worst_error();
    printf("largest error %s\n", worst < 1e-6 ? "below 1e-6" : "too large");
    free(matrix);
    return worst >= 1e-6;
}
