//@ verdict: race
//@ threads: 2
// Both branches let the index SPLIT through.
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

enum { SIZE = 100, SPLIT = 40 };
static unsigned cells[SIZE];

static void *low(void *arg)
{
    for (;;) {
        unsigned i = __VERIFIER_nondet_uint();
        if (i <= SPLIT)
            cells[i]++; // RACE#1: cells[i]
    }
    return arg;
}

static void *high(void *arg)
{
    for (;;) {
        unsigned i = __VERIFIER_nondet_uint();
        if (i >= SPLIT && i < SIZE)
            cells[i]++; // RACE#1: cells[i]
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, low, NULL);
    pthread_create(&b, NULL, high, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
