// The clean-up handler runs when the thread exits, without the lock.
#include <pthread.h>

static int counter;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void handler(void *arg)
{
    (void)arg;
    counter++;
}

static void *worker(void *arg)
{
    (void)arg;
    pthread_cleanup_push(handler, NULL);
    pthread_exit(NULL);
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    pthread_mutex_lock(&m);
    counter++;
    pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    return 0;
}
