//@ verdict: race
//@ threads: 2
// The second thread starts one below the border, where there is one.
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

enum { SIZE = 100 };
static unsigned cells[SIZE];
static unsigned border;

static void *low(void *arg)
{
    for (unsigned i = 0; i < border; i++) // NORACE: border
        cells[i] = 1; // RACE#1: cells[i]
    return arg;
}

static void *high(void *arg)
{
    for (unsigned i = border - (border > 0); i < SIZE; i++) // NORACE: border
        cells[i] = 2; // RACE#1: cells[i]
    return arg;
}

int main(void)
{
    pthread_t a, b;
    border = __VERIFIER_nondet_uint(); // NORACE: border
    if (border >= SIZE)
        return 1;
    pthread_create(&a, NULL, low, NULL);
    pthread_create(&b, NULL, high, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
