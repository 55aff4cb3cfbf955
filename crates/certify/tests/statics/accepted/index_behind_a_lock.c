// An index stays in its array: it is no write to the lock before it.
#include <pthread.h>

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    int items[2];
    int count;
};

static struct queue queue = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {0, 0}, 0};

static void put(struct queue *q, int item)
{
    pthread_mutex_lock(&q->lock);
    q->items[q->count++] = item;
    pthread_cond_signal(&q->filled);
    pthread_mutex_unlock(&q->lock);
}

static int take(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == 0)
        pthread_cond_wait(&q->filled, &q->lock);
    int item = q->items[--q->count];
    pthread_mutex_unlock(&q->lock);
    return item;
}

static void *producer(void *arg)
{
    put(arg, 1);
    put(arg, 2);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, producer, &queue);
    int first = take(&queue);
    pthread_join(thread, NULL);
    return first == 0;
}
