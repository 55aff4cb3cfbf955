#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
static sem_t ready;
static int value;
static void *worker(void *arg)
{
    value = 42;
    sem_post(&ready);
    return arg;
}
int main(void)
{
    pthread_attr_t attributes;
    pthread_t a;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sem_init(&ready, 0, 0);
    pthread_create(&a, &attributes, worker, NULL);
    sem_wait(&ready);
    printf("%d\n", value);
    return 0;
}
