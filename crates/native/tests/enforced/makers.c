// Two threads that make a thread each, and wait for it.
#include <pthread.h>
#include <unistd.h>

int x;
static int late;

static void *child(void *arg)
{
    x++;
    return arg;
}

static void *maker(void *arg)
{
    pthread_t t;


    if (arg)
        usleep(50000);



    pthread_create(&t, NULL, child, NULL);
    pthread_join(t, NULL);
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, maker, NULL);
    pthread_create(&t, NULL, maker, &late);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return x < 0;
}
