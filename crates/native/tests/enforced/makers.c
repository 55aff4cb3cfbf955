// Two threads that make a thread each, and wait for it; the gate lets both begin when they are there.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
int x;

static void *child(void *arg)
{
    x++;
    return arg;
}

static void *maker(void *arg)
{
    pthread_t t;
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    if (arg)
        usleep(50000);
    pthread_create(&t, NULL, child, NULL);
    pthread_join(t, NULL);
    return arg;
}

int main(void)
{
    static int late;
    pthread_t s, t;
    pthread_mutex_lock(&gate);
    pthread_create(&s, NULL, maker, NULL);
    pthread_create(&t, NULL, maker, &late);
    pthread_mutex_unlock(&gate);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return x < 0;
}
