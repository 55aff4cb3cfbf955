//@ verdict: safe
//@ threads: any
// n is a power of two, so the mask n - 1 keeps an index below n as it is.
#include <pthread.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

static unsigned n;
static int *cells;

static void *worker(void *arg)
{
    unsigned me = (unsigned)(size_t)arg;
    cells[me & (n - 1)]++; // NORACE: cells[...]
    return NULL;
}

int main(void)
{
    n = 1u << (__VERIFIER_nondet_uint() % 16);
    pthread_t *ids = malloc(n * sizeof *ids);
    cells = calloc(n, sizeof *cells);
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
