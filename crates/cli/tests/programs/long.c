// More interleavings than anyone waits for.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *worker(void *arg)
{
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&lock);
        count++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t threads[6];
    for (int i = 0; i < 6; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
