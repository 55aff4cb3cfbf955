//@ verdict: race
//@ threads: any
// The index is read and advanced in two steps: two threads may get the same.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

static atomic_uint next;
static int *cells;

static void *worker(void *arg)
{
    unsigned me = atomic_load(&next);
    atomic_store(&next, me + 1);
    cells[me]++; // RACE#1: cells[me]
    return arg;
}

int main(void)
{
    unsigned n = __VERIFIER_nondet_uint();
    pthread_t *ids = malloc(n * sizeof *ids);
    cells = calloc(n, sizeof *cells);
    if (!ids || !cells)
        return 1;
    for (unsigned i = 0; i < n; i++)
        pthread_create(&ids[i], NULL, worker, NULL);
    for (unsigned i = 0; i < n; i++)
        pthread_join(ids[i], NULL);
    unsigned total = 0;
    for (unsigned i = 0; i < n; i++)
        total += (unsigned)cells[i]; // NORACE: cells[i]
    return total == n;
}
