//@ verdict: race
//@ threads: any
// The best index is written after the exchange, by two threads at once perhaps.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

enum { BLOCK = 2 };
static atomic_uint maximum;
static unsigned last;
static unsigned *values;

static void *worker(void *arg)
{
    size_t first = BLOCK * (size_t)arg;
    unsigned mine = 0;
    for (size_t i = first; i < first + BLOCK; i++) {
        if (values[i] > mine) // NORACE: values[i]
            mine = values[i]; // NORACE: values[i]
        values[i] = 0; // NORACE: values[i]
    }
    unsigned seen = maximum;
    while (seen < mine)
        if (atomic_compare_exchange_strong(&maximum, &seen, mine)) {
            last = mine; // RACE#1: last
            break;
        }
    return NULL;
}

int main(void)
{
    unsigned n = __VERIFIER_nondet_uint();
    values = malloc(n * (BLOCK * sizeof *values));
    if (!values)
        return 1;
    for (size_t i = 0; i < BLOCK * (size_t)n; i++)
        values[i] = __VERIFIER_nondet_uint(); // NORACE: values[i]
    for (unsigned i = 0; i < n; i++) {
        pthread_t t;
        pthread_create(&t, NULL, worker, (void *)(size_t)i);
    }
    pthread_exit(NULL);
}
