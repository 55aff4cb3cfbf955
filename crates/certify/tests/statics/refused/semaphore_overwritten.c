// A semaphore that is copied over while it is in use orders nothing.
#include <pthread.h>
#include <semaphore.h>

static sem_t ready, other;
static int value;

static void *worker(void *arg)
{
    value = 1;
    sem_post(&ready);
    return arg;
}

int main(void)
{
    pthread_t t;
    sem_init(&ready, 0, 0);
    sem_init(&other, 0, 1);
    pthread_create(&t, NULL, worker, NULL);
    ready = other;
    sem_wait(&ready);
    value = 2;
    pthread_join(t, NULL);
    return 0;
}
