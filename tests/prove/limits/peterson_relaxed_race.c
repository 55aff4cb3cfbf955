//@ verdict: race
//@ threads: 2
// Peterson's lock with relaxed operations: even where it excludes it orders nothing.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int want[2], turn;
static unsigned x;

static void *thread(void *arg)
{
    int me = arg != NULL;
    int other = 1 - me;
    for (;;) {
        atomic_store_explicit(&want[me], 1, memory_order_relaxed);
        atomic_store_explicit(&turn, other, memory_order_relaxed);
        while (atomic_load_explicit(&want[other], memory_order_relaxed)
               && atomic_load_explicit(&turn, memory_order_relaxed) == other)
            ;
        x++; // RACE#1: x
        atomic_store_explicit(&want[me], 0, memory_order_relaxed);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, (void *)1L);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
