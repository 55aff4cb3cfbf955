//@ verdict: safe
//@ threads: any
// Each thread is given a pointer to its own cell; main reads after joining all.
#include <pthread.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

static int *cells;

static void *worker(void *arg)
{
    int *mine = arg;
    ++*mine; // NORACE: *mine
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
        pthread_create(&ids[i], NULL, worker, &cells[i]);
    for (unsigned i = 0; i < n; i++)
        pthread_join(ids[i], NULL);
    unsigned total = 0;
    for (unsigned i = 0; i < n; i++)
        total += (unsigned)cells[i]; // NORACE: cells[i]
    return total == n;
}
