//@ verdict: safe
//@ threads: 2
// Main chooses the border, anything below SIZE; the threads stay on their sides of it.
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

enum { SIZE = 100 };
static unsigned cells[SIZE];
static unsigned border;

static void *low(void *arg)
{
    for (unsigned i = 0; i < border; i++) // NORACE: border
        cells[i] = 1; // NORACE: cells[i]
    return arg;
}

static void *high(void *arg)
{
    for (unsigned i = border; i < SIZE; i++) // NORACE: border
        cells[i] = 2; // NORACE: cells[i]
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
