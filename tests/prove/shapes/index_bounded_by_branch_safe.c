//@ verdict: safe
//@ threads: 2
// The first thread stays below SPLIT and the second above, each by a branch on its index.
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

enum { SIZE = 100, SPLIT = 40 };
static unsigned cells[SIZE];

static void *low(void *arg)
{
    for (;;) {
        unsigned i = __VERIFIER_nondet_uint();
        if (i < SPLIT)
            cells[i]++; // NORACE: cells[i]
    }
    return arg;
}

static void *high(void *arg)
{
    for (;;) {
        unsigned i = __VERIFIER_nondet_uint();
        if (i >= SPLIT && i < SIZE)
            cells[i]++; // NORACE: cells[i]
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
