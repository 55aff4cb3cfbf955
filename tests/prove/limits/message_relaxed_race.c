//@ verdict: race
//@ threads: 2
// A relaxed flag is seen after the data was written, but orders nothing.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;
static int data;

static void *writer(void *arg)
{
    data = 42; // RACE#1: data
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return arg;
}

static void *reader(void *arg)
{
    while (!atomic_load_explicit(&ready, memory_order_relaxed))
        ;
    return data ? arg : NULL; // RACE#1: data
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
