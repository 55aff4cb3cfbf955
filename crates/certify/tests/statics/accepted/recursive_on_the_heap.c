// The kind comes with a copy of a constant.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

struct counter {
    int value;
    pthread_mutex_t lock;
};

static const pthread_mutex_t model = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static void *worker(void *arg)
{
    struct counter *c = arg;
    pthread_mutex_lock(&c->lock);
    pthread_mutex_lock(&c->lock);
    pthread_mutex_unlock(&c->lock);
    c->value++;
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    struct counter *c = malloc(sizeof *c);
    if (c == NULL)
        return 1;
    c->value = 0;
    c->lock = model;
    pthread_create(&a, NULL, worker, c);
    pthread_create(&b, NULL, worker, c);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
