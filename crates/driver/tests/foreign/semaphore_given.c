//@ static: unknown
//@ explore: unknown
//@ check: unknown
// A semaphore that a function without a body may post.
#include <pthread.h>
#include <semaphore.h>

extern void notify(sem_t *done);

static sem_t done;
static int counter;

static void *worker(void *arg)
{
    counter++;
    sem_post(&done);
    return arg;
}

int main(void)
{
    pthread_t a;
    sem_init(&done, 0, 0);
    pthread_create(&a, NULL, worker, NULL);
    notify(&done);
    sem_wait(&done);
    counter++;
    pthread_join(a, NULL);
    return 0;
}
