// Three threads, two locks: 34 visible operations in each run.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static int a, b;

static void *worker(void *arg)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&m);
        a++;
        pthread_mutex_unlock(&m);
        pthread_mutex_lock(&n);
        b++;
        pthread_mutex_unlock(&n);
    }
    return arg;
}

int main(void)
{
    pthread_t t, u;
    pthread_create(&t, NULL, worker, NULL);
    pthread_create(&u, NULL, worker, NULL);
    worker(NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return a - b;
}
