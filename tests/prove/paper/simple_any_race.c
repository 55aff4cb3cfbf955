//@ verdict: race
//@ threads: any
// The lock word m is tested and set in two steps.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int m;
static unsigned x;

static void acquire(void)
{
    while (atomic_load(&m) != 0)
        ;
    atomic_store(&m, 1);
}

static void *thread(void *arg)
{
    for (;;) {
        acquire();
        x++; // RACE#1: x
        atomic_store(&m, 0);
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
