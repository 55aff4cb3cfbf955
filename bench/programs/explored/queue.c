// A producer and a consumer with a condition variable: some 30 visible operations in each run.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int items, taken;

static void *producer(void *arg)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&m);
        items++;
        pthread_cond_signal(&c);
        pthread_mutex_unlock(&m);
    }
    return arg;
}

static void *consumer(void *arg)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&m);
        while (items == 0)
            pthread_cond_wait(&c, &m);
        items--;
        taken++;
        pthread_mutex_unlock(&m);
    }
    return arg;
}

int main(void)
{
    pthread_t t, u;
    pthread_create(&t, NULL, producer, NULL);
    pthread_create(&u, NULL, consumer, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return taken - 3;
}
