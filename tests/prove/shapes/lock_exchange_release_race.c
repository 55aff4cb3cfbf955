//@ verdict: race
//@ threads: any
// The exchange that takes the lock is relaxed and acquires nothing.
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static atomic_bool taken;
static unsigned x;

static void *thread(void *arg)
{
    while (atomic_exchange_explicit(&taken, true, memory_order_relaxed))
        ;
    x++; // RACE#1: x
    atomic_store_explicit(&taken, false, memory_order_release);
    return arg;
}

int main(void)
{
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
}
