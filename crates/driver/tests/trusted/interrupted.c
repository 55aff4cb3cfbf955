//@ static: safe A-SIGNAL
// A handler that runs would interrupt the wait (`EINTR`), and nobody looks at its result.
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

static sem_t ready;
static int x;

static void nothing(int number)
{
    (void)number;
}

static void *worker(void *p)
{
    x = 1;
    sem_post(&ready);
    return p;
}

int main(void)
{
    pthread_t t;
    signal(SIGALRM, nothing);
    sem_init(&ready, 0, 0);
    pthread_create(&t, 0, worker, 0);
    sem_wait(&ready);
    x = 2;
    pthread_join(t, 0);
    return 0;
}
