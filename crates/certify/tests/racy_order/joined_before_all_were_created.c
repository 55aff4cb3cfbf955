// The workers' own post shows that one was created, not that all were.
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static int x;
static pthread_t workers[4];
static sem_t one;
int count(void);

static void *worker(void *arg)
{
    sem_post(&one);
    return x ? arg : NULL;
}

static void *creator(void *arg)
{
    int n = count();
    for (int i = 0; i < n; i++)
        pthread_create(&workers[i], NULL, worker, NULL);
    return arg;
}

int main(void)
{
    pthread_t other;
    sem_init(&one, 0, 0);
    pthread_create(&other, NULL, creator, NULL);
    sem_wait(&one);
    int n = count();
    for (int i = 0; i < n; i++)
        pthread_join(workers[i], NULL);
    x = 1;
    return 0;
}
