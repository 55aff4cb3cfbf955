//@ verdict: race
//@ threads: any
// Giving the lock back is relaxed: it excludes, but hands nothing over.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int word;
static unsigned x;

static void *thread(void *arg)
{
    int expected = 0;
    while (!atomic_compare_exchange_strong_explicit(&word, &expected, 1, memory_order_acquire,
                                                    memory_order_relaxed))
        expected = 0;
    x++; // RACE#1: x
    atomic_store_explicit(&word, 0, memory_order_relaxed);
    return arg;
}

int main(void)
{
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
}
