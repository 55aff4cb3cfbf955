// Before the threads start, zeros are an initialisation; an array in the same structure is not the lock.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_mutex_t lock;
    int items[8];
    unsigned next;
} queue;

static void *worker(void *arg)
{
    pthread_mutex_lock(&queue.lock);
    queue.items[queue.next % 8] = 1;
    queue.next++;
    pthread_mutex_unlock(&queue.lock);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    memset(&queue, 0, sizeof queue);
    queue.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
