//@ verdict: race
//@ deadlocks: none
// A semaphore stands in for a lock, and has one permit too many.
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static sem_t permits;
int x;

static void *first(void *arg)
{
    sem_wait(&permits);
    x = 1; // RACE#1: x
    sem_post(&permits);
    return arg;
}

static void *second(void *arg)
{
    usleep(50000);
    sem_wait(&permits);
    x = 2; // RACE#1: x
    sem_post(&permits);
    return arg;
}

int main(void)
{
    pthread_t s, t;
    sem_init(&permits, 0, 2);
    pthread_create(&s, NULL, first, NULL);
    pthread_create(&t, NULL, second, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return x < 0;
}
