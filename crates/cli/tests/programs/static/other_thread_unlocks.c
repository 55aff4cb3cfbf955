#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void *helper(void *p)
{
    pthread_mutex_unlock(&m);
    return p;
}
static void *worker(void *p)
{
    pthread_mutex_lock(&m);
    x++;
    pthread_mutex_unlock(&m);
    return p;
}
int main(void)
{
    pthread_t a, b;
    pthread_mutex_lock(&m);
    pthread_create(&a, 0, helper, 0);
    pthread_create(&b, 0, worker, 0);
    x = 2;
    pthread_join(a, 0);
    return pthread_join(b, 0);
}
