//@ static: unknown
// Of two threads that join each other one gets `EDEADLK` and goes on: the write of the other is not ordered before.
#include <pthread.h>
#include <semaphore.h>

static pthread_t first, second;
static sem_t known;
static int x;

static void *one(void *p)
{
    x = 1;
    sem_wait(&known);
    pthread_join(second, 0);
    return p;
}

static void *two(void *p)
{
    pthread_join((pthread_t)p, 0);
    x = 2;
    return 0;
}

int main(void)
{
    sem_init(&known, 0, 0);
    pthread_create(&first, 0, one, 0);
    pthread_create(&second, 0, two, (void *)first);
    sem_post(&known);
    pthread_exit(0);
}
