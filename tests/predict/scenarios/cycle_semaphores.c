//@ verdict: safe
//@ deadlocks: found
// Two semaphores of one permit each, taken in opposite orders.
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static sem_t a, b;
int x;

static void *first(void *arg)
{
    sem_wait(&a);
    sem_wait(&b); // FINDING: deadlock
    x++;
    sem_post(&b);
    sem_post(&a);
    return arg;
}

static void *second(void *arg)
{
    usleep(50000);
    sem_wait(&b);
    sem_wait(&a); // FINDING: deadlock
    x++;
    sem_post(&a);
    sem_post(&b);
    return arg;
}

int main(void)
{
    pthread_t s, t;
    sem_init(&a, 0, 1);
    sem_init(&b, 0, 1);
    pthread_create(&s, NULL, first, NULL);
    pthread_create(&t, NULL, second, NULL);
    pthread_join(s, NULL); // FINDING: deadlock
    pthread_join(t, NULL);
    return x < 0;
}
