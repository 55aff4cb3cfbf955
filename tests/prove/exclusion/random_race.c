//@ verdict: race
//@ threads: any
// The seed is read outside of the atomic functions.
#include <pthread.h>

static unsigned seed = 1;

static int __VERIFIER_atomic_cas(unsigned old, unsigned new)
{
    if (seed != old)
        return 0;
    seed = new; // RACE#1: seed
    return 1;
}

static unsigned draw(void)
{
    unsigned old, new;
    do {
        old = seed; // RACE#1: seed
        new = old * 1103515245u + 12345u;
    } while (!__VERIFIER_atomic_cas(old, new));
    return new;
}

static void *thread(void *arg)
{
    for (;;)
        draw();
    return arg;
}

int main(void)
{
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
}
