//@ verdict: race
//@ threads: any
// The load decides who may write x: two threads may both find 0.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int taken;
static unsigned x;

static void acquire(void)
{
    while (atomic_load(&taken))
        ;
    atomic_exchange(&taken, 1);
}

static void *thread(void *arg)
{
    for (;;) {
        acquire();
        x++; // RACE#1: x
        atomic_store(&taken, 0);
    }
    return arg;
}

int main(void)
{
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
}
