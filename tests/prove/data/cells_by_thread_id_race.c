//@ verdict: race
//@ threads: any
// A thread halves its place, so two threads share a cell.
#include <pthread.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_t *ids;
static unsigned count;
static int *cells;

static void *worker(void *arg)
{
    unsigned me = 0;
    pthread_mutex_lock(&m);
    while (me < count && !pthread_equal(ids[me], pthread_self())) // NORACE: ids[me]
        me++;
    pthread_mutex_unlock(&m);
    cells[me / 2]++; // RACE#1: cells[...]
    return arg;
}

int main(void)
{
    unsigned n = __VERIFIER_nondet_uint();
    ids = malloc(n * sizeof *ids);
    cells = calloc(n, sizeof *cells);
    if (!ids || !cells)
        return 1;
    count = n;
    pthread_mutex_lock(&m);
    for (unsigned i = 0; i < n; i++)
        pthread_create(&ids[i], NULL, worker, NULL);
    pthread_mutex_unlock(&m);
    for (unsigned i = 0; i < n; i++)
        pthread_join(ids[i], NULL);
    unsigned total = 0;
    for (unsigned i = 0; i < n; i++)
        total += (unsigned)cells[i]; // NORACE: cells[i]
    return total == n;
}
