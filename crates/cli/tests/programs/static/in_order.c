#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t n = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void *worker(void *p)
{
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&n);
    x++;
    pthread_mutex_unlock(&n);
    pthread_mutex_unlock(&m);
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    worker(0);
    return pthread_join(t, 0);
}
