//@ verdict: safe
//@ threads: any
// Taking the lock acquires and giving it back releases.
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
    x++; // NORACE: x
    atomic_store_explicit(&word, 0, memory_order_release);
    return arg;
}

int main(void)
{
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
}
