//@ verdict: race
//@ threads: any
// ready is set before the value is written.
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
            atomic_store(&ready, 1);
            value = 42; // RACE#1: value
        }
        pthread_mutex_unlock(&m);
    }
    return value; // RACE#1: value
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
