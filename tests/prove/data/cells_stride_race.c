//@ verdict: race
//@ threads: any
// Each thread takes a third cell, the first one of its neighbour.
#include <pthread.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

static int *cells;

static void *worker(void *arg)
{
    size_t first = 2 * (size_t)arg;
    for (size_t k = first; k <= first + 2; k++)
        cells[k]++; // RACE#1: cells[k]
    return NULL;
}

int main(void)
{
    unsigned n = __VERIFIER_nondet_uint();
    pthread_t *ids = malloc(n * sizeof *ids);
    cells = calloc(2 * (size_t)n + 1, sizeof *cells);
    if (!ids || !cells)
        return 1;
    for (unsigned i = 0; i < n; i++)
        pthread_create(&ids[i], NULL, worker, (void *)(size_t)i);
    for (unsigned i = 0; i < n; i++)
        pthread_join(ids[i], NULL);
    unsigned total = 0;
    for (unsigned i = 0; i < n; i++)
        total += (unsigned)cells[i]; // NORACE: cells[i]
    return total == n;
}
