//@ verdict: race
//@ threads: any
// All threads read their index from the variable that main counts on.
#include <pthread.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

static int *cells;

static void *worker(void *arg)
{
    unsigned me = *(unsigned *)arg; // RACE#1: *arg
    cells[me]++; // RACE#2: cells[me]
    return NULL;
}

int main(void)
{
    unsigned n = __VERIFIER_nondet_uint();
    pthread_t *ids = malloc(n * sizeof *ids);
    unsigned next;
    cells = calloc(n, sizeof *cells);
    if (!ids || !cells)
        return 1;
    for (unsigned i = 0; i < n; i++) {
        next = i; // RACE#1: *arg
        pthread_create(&ids[i], NULL, worker, &next);
    }
    for (unsigned i = 0; i < n; i++)
        pthread_join(ids[i], NULL);
    unsigned total = 0;
    for (unsigned i = 0; i < n; i++)
        total += (unsigned)cells[i]; // NORACE: cells[i]
    return total == n;
}
