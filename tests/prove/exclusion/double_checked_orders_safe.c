//@ verdict: safe
//@ threads: any
// Double-checked initialisation with a release store and an acquire load.
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static atomic_int ready;
static int value;

static int get(void)
{
    if (!atomic_load_explicit(&ready, memory_order_acquire)) {
        pthread_mutex_lock(&m);
        if (!atomic_load_explicit(&ready, memory_order_relaxed)) {
            value = 42; // NORACE: value
            atomic_store_explicit(&ready, 1, memory_order_release);
        }
        pthread_mutex_unlock(&m);
    }
    return value; // NORACE: value
}

static void *thread(void *arg)
{
    for (;;)
        get();
    return arg;
}

int main(void)
{
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
}
