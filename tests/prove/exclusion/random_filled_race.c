//@ verdict: race
//@ threads: any
// The generator tests and replaces the seed in two steps: two threads may draw the same number.
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint seed;
static unsigned first_draws;

static unsigned draw(void)
{
    unsigned old = atomic_load(&seed);
    atomic_store(&seed, old == 0 ? 1 : old * 3);
    return old;
}

static void *thread(void *arg)
{
    for (;;)
        if (draw() == 0)
            first_draws++; // RACE#1: first_draws
    return arg;
}

int main(void)
{
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
}
