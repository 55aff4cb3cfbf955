#include <pthread.h>
#include <stdlib.h>

struct queue {
    pthread_mutex_t m;
    int count;
};

static void put(struct queue *q)
{
    pthread_rwlock_rdlock(&table);
    pthread_mutex_lock(&q->m);
    q->count = q->count + 1;
    pthread_mutex_unlock(&q->m);
}

static int size(struct queue *q)
{
	return q->count;
}

static void *worker(void *q)
{
    put(q);
    free(q);
    free(q);
}

int main(void) {
    struct queue *q = malloc(sizeof *q); /* a line that goes on for quite a while, longer than a narrow terminal */
    pthread_create(&a, NULL, worker, q);
    pthread_create(&b, NULL, worker, q);
    return size(q);
}
