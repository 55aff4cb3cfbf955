#include "counter.h"
#include <pthread.h>
#include <stdio.h>
static void *worker(void *arg)
{
    count();
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%d\n", counted() > 0);
    return 0;
}
