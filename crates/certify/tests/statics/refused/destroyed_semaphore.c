// A wait for a semaphore that is gone does not wait.
#include <pthread.h>
#include <semaphore.h>

static int counter;
static sem_t done;

static void *worker(void *arg)
{
    counter++;
    sem_post(&done);
    return arg;
}

int main(void)
{
    pthread_t t;
    sem_init(&done, 0, 0);
    pthread_create(&t, NULL, worker, NULL);
    sem_destroy(&done);
    sem_wait(&done);
    counter++;
    pthread_join(t, NULL);
    return 0;
}
