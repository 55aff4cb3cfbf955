//@ verdict: safe
//@ threads: any
// Each draw of the compare-and-swap generator is a seed of its own, so one thread only sees the first one.
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint seed;
static unsigned first_draws;

static unsigned draw(void)
{
    unsigned old = atomic_load(&seed);
    while (!atomic_compare_exchange_strong(&seed, &old, old == 0 ? 1 : old * 3))
        ;
    return old;
}

static void *thread(void *arg)
{
    for (;;)
        if (draw() == 0)
            first_draws++; // NORACE: first_draws
    return arg;
}

int main(void)
{
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
}
