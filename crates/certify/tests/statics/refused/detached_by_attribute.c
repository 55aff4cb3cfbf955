// Created detached: joining it is undefined.
#include <pthread.h>

static int value;

static void *worker(void *arg)
{
    value = 1;
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_attr_t attribute;
    pthread_attr_init(&attribute);
    pthread_attr_setdetachstate(&attribute, PTHREAD_CREATE_DETACHED);
    pthread_create(&t, &attribute, worker, NULL);
    pthread_join(t, NULL);
    value = 2;
    return 0;
}
