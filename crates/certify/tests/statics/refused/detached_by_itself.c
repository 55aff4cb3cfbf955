// Joining a thread that detached itself is undefined and orders nothing.
#include <pthread.h>

static int value;

static void *worker(void *arg)
{
    pthread_detach(pthread_self());
    value = 1;
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    pthread_join(t, NULL);
    value = 2;
    return 0;
}
