//@ verdict: race
//@ threads: any
// The counter is read and advanced in two critical sections.
#include <pthread.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned next;
static int *cells;

static void *worker(void *arg)
{
    pthread_mutex_lock(&m);
    unsigned me = next; // NORACE: next
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m);
    next = me + 1; // NORACE: next
    pthread_mutex_unlock(&m);
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
