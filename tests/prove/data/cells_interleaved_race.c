//@ verdict: race
//@ threads: any
// The step is one too small: a thread meets the one before it.
#include <pthread.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

static unsigned n;
static int *cells;

static void *worker(void *arg)
{
    for (size_t k = (size_t)arg; k < 3 * (size_t)n; k += n - 1)
        cells[k]++; // RACE#1: cells[k]
    return NULL;
}

int main(void)
{
    n = __VERIFIER_nondet_uint();
    pthread_t *ids = malloc(n * sizeof *ids);
    cells = calloc(3 * (size_t)n, sizeof *cells);
    if (!ids || !cells || n < 2)
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
