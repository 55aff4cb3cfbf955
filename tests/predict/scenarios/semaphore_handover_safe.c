//@ verdict: safe
//@ deadlocks: none
// The semaphore starts at zero and carries the message over.
#include <pthread.h>
#include <semaphore.h>

static sem_t filled;
int message, out;

static void *sender(void *arg)
{
    message = 9; // NORACE: message
    sem_post(&filled);
    return arg;
}

static void *receiver(void *arg)
{
    sem_wait(&filled);
    out = message; // NORACE: message
    return arg;
}

int main(void)
{
    pthread_t s, t;
    sem_init(&filled, 0, 0);
    pthread_create(&s, NULL, sender, NULL);
    pthread_create(&t, NULL, receiver, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return out < 0;
}
