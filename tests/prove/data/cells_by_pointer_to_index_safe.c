//@ verdict: safe
//@ threads: any
// Each thread reads its index through a pointer to a place of its own.
#include <pthread.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

static int *cells;

static void *worker(void *arg)
{
    unsigned me = *(unsigned *)arg; // NORACE: *arg
    cells[me]++; // NORACE: cells[me]
    return NULL;
}

int main(void)
{
    unsigned n = __VERIFIER_nondet_uint();
    pthread_t *ids = malloc(n * sizeof *ids);
    unsigned *index = malloc(n * sizeof *index);
    cells = calloc(n, sizeof *cells);
    if (!ids || !cells || !index)
        return 1;
    for (unsigned i = 0; i < n; i++) {
        index[i] = i; // NORACE: index[i]
        pthread_create(&ids[i], NULL, worker, &index[i]);
    }
    for (unsigned i = 0; i < n; i++)
        pthread_join(ids[i], NULL);
    unsigned total = 0;
    for (unsigned i = 0; i < n; i++)
        total += (unsigned)cells[i]; // NORACE: cells[i]
    return total == n;
}
