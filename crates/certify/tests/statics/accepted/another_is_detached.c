// One thread is detached, the other one is joined.
#include <pthread.h>

static int value;

static void *worker(void *arg)
{
    value = 1;
    return arg;
}

static void *other(void *arg)
{
    return arg;
}

int main(void)
{
    pthread_t t, u;
    pthread_create(&t, NULL, worker, NULL);
    pthread_create(&u, NULL, other, NULL);
    pthread_detach(u);
    pthread_join(t, NULL);
    value = 2;
    return 0;
}
