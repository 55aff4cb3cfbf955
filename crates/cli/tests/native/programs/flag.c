/* Spins for a while on a flag, millions of times. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int go;
static int data;
static void *spin(void *arg)
{
    while (!atomic_load_explicit(&go, memory_order_acquire))
        continue;
    data++;
    return arg;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, spin, NULL);
    usleep(300000);
    data = 1;
    atomic_store_explicit(&go, 1, memory_order_release);
    pthread_join(thread, NULL);
    return data;
}
