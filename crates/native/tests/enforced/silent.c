// Much that leaves no event, before the racing accesses and between the recorded ones.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

static pthread_mutex_t m;
static sem_t none;
static atomic_int hits;
int x, y;

static void again(int depth)
{
    pthread_mutex_lock(&m);
    if (depth > 0)
        again(depth - 1);
    y++;
    pthread_mutex_unlock(&m);
}

static void *first(void *arg)
{
    for (int i = 0; i < 20; i++)
        atomic_fetch_add_explicit(&hits, 1, memory_order_relaxed);
    x = 1;
    again(3);
    return arg;
}

static void busy(void)
{
    int value;
    for (int i = 0; i < 20; i++) {
        atomic_fetch_add_explicit(&hits, 1, memory_order_relaxed);
        sem_trywait(&none);
        sem_getvalue(&none, &value);
        usleep(100);
    }
}

static void *idle(void *arg)
{
    usleep(20000);
    return arg;
}

static void *second(void *arg)
{
    pthread_t t;
    usleep(50000);
    again(2);
    pthread_create(&t, NULL, idle, NULL);
    while (pthread_tryjoin_np(t, NULL) == EBUSY)
        usleep(1000);
    again(0);
    busy();
    x = 2;
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&m, &kind);
    sem_init(&none, 0, 0);



    pthread_create(&s, NULL, first, NULL);
    pthread_create(&t, NULL, second, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return x < 0;
}
