//@ explore: safe A-HASH A-LOOP
// The loop is left out as soon as it goes in circles.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;
static int x;

static void *worker(void *p)
{
    x = 1;
    atomic_store(&ready, 1);
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    while (!atomic_load(&ready))
        ;
    x = 2;
    pthread_join(t, 0);
    return 0;
}
