// A thousand threads with a section each.
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_t t[1000];
static int x;
static void *worker(void *arg)
{
    pthread_mutex_lock(&m);
    x++;
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void)
{
    for (int i = 0; i < 1000; i++)
        pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 1000; i++)
        pthread_join(t[i], 0);
    return 0;
}
