/* The flag orders nothing. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
static atomic_int flag;
static int data;
static void *writer(void *arg)
{
    data = 1;
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, writer, NULL);
    while (!atomic_load_explicit(&flag, memory_order_relaxed))
        ;
    printf("%d\n", data);
    pthread_join(a, NULL);
    return 0;
}
