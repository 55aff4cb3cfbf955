//@ verdict: safe
//@ threads: any
// The value is written once, under the mutex and before ready; it is read after ready was seen.
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static atomic_int ready;
static int value;

static int get(void)
{
    if (!atomic_load(&ready)) {
        pthread_mutex_lock(&m);
        if (!atomic_load(&ready)) {
            value = 42; // NORACE: value
            atomic_store(&ready, 1);
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
