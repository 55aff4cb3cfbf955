//@ verdict: race
//@ threads: any
// The producer looks at the item again after it has given the mutex back.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int *slot;

static void *producer(void *arg)
{
    for (;;) {
        int *item = malloc(sizeof *item);
        if (!item)
            return arg;
        *item = 1; // NORACE: *item
        pthread_mutex_lock(&m);
        while (slot) // NORACE: slot
            pthread_cond_wait(&changed, &m);
        slot = item; // NORACE: slot
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&m);
        *item = 2; // RACE#1: *item
    }
    return arg;
}

static void *consumer(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&m);
        while (!slot) // NORACE: slot
            pthread_cond_wait(&changed, &m);
        int *item = slot; // NORACE: slot
        slot = NULL; // NORACE: slot
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&m);
        ++*item; // RACE#1: *item
    }
    return arg;
}

int main(void)
{
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, producer, NULL);
        pthread_create(&t, NULL, consumer, NULL);
    }
}
