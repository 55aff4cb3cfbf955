// A hand-over by a flag that is waited for in a loop, and an access behind it.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int ready;
int payload, x, out;

static void *sender(void *arg)
{
    usleep(50000);
    payload = 1;
    atomic_store_explicit(&ready, 1, memory_order_release);
    atomic_store_explicit(&ready, 2, memory_order_release);
    x = 1;
    return arg;
}

static void *receiver(void *arg)
{
    while (atomic_load_explicit(&ready, memory_order_acquire) < 2)
        usleep(100);


    out = payload;
    x = 2;
    return arg;
}




int main(void)
{
    pthread_t s, t;


    pthread_create(&s, NULL, sender, NULL);
    pthread_create(&t, NULL, receiver, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return x + out < 0;
}
