//@ verdict: race
//@ threads: any
// Main reads the cells while the threads run.
#include <pthread.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

static int *cells;

static void *worker(void *arg)
{
    cells[(size_t)arg] = 1; // RACE#1: cells[...]
    return NULL;
}

int main(void)
{
    unsigned n = __VERIFIER_nondet_uint();
    pthread_t *ids = malloc(n * sizeof *ids);
    cells = calloc(n, sizeof *cells);
    if (!ids || !cells)
        return 1;
    for (unsigned i = 0; i < n; i++)
        pthread_create(&ids[i], NULL, worker, (void *)(size_t)i);
    unsigned total = 0;
    for (unsigned i = 0; i < n; i++)
        total += (unsigned)cells[i]; // RACE#1: cells[...]
    for (unsigned i = 0; i < n; i++)
        pthread_join(ids[i], NULL);
    return total == n;
}
