// Zeros before the initialisation: the twin of semaphore_overwritten.c.
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

static struct {
    int value;
    sem_t ready;
} box;

static void *worker(void *arg)
{
    box.value = 1;
    sem_post(&box.ready);
    return arg;
}

int main(void)
{
    pthread_t t;
    memset(&box, 0, sizeof box);
    sem_init(&box.ready, 0, 0);
    pthread_create(&t, NULL, worker, NULL);
    sem_wait(&box.ready);
    box.value = 2;
    pthread_join(t, NULL);
    return 0;
}
