//@ verdict: safe
//@ deadlocks: none
// Producers and consumers around a ring, with one lock and two conditions.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define PLACES 8
#define MAX_THREADS 16

static struct {
    pthread_mutex_t lock;
    pthread_cond_t not_full, not_empty;
    int ring[PLACES];
    int head, tail, used;
} buffer = {.lock = PTHREAD_MUTEX_INITIALIZER, .not_full = PTHREAD_COND_INITIALIZER, .not_empty = PTHREAD_COND_INITIALIZER};

static int items;
static int ids[MAX_THREADS];
static long sums[MAX_THREADS];

static void put(int item)
{
    pthread_mutex_lock(&buffer.lock);
    while (buffer.used == PLACES)
        pthread_cond_wait(&buffer.not_full, &buffer.lock);
    buffer.ring[buffer.head] = item; // NORACE: buffer.ring
    buffer.head = (buffer.head + 1) % PLACES;
    buffer.used++;
    pthread_cond_signal(&buffer.not_empty);
    pthread_mutex_unlock(&buffer.lock);
}

static int take(void)
{
    int item;
    pthread_mutex_lock(&buffer.lock);
    while (buffer.used == 0)
        pthread_cond_wait(&buffer.not_empty, &buffer.lock);
    item = buffer.ring[buffer.tail]; // NORACE: buffer.ring
    buffer.tail = (buffer.tail + 1) % PLACES;
    buffer.used--;
    pthread_cond_signal(&buffer.not_full);
    pthread_mutex_unlock(&buffer.lock);
    return item;
}

static void *producer(void *arg)
{
    int id = *(int *)arg, i;
    for (i = 0; i < items; i++)
        put(id * items + i);
    return NULL;
}

static void *consumer(void *arg)
{
    int id = *(int *)arg, i;
    for (i = 0; i < items; i++)
        sums[id] += take(); // NORACE: sums
    return NULL;
}

int main(int argc, char **argv)
{
    int pairs = argc > 1 ? atoi(argv[1]) : 3, i;
    pthread_t thread[2 * MAX_THREADS];
    long sum = 0, all;

    items = argc > 2 ? atoi(argv[2]) : 24;
    if (pairs < 1 || pairs > MAX_THREADS)
        return 2;
    for (i = 0; i < pairs; i++) {
        ids[i] = i;
        pthread_create(&thread[2 * i], NULL, producer, &ids[i]);
        pthread_create(&thread[2 * i + 1], NULL, consumer, &ids[i]);
    }
    for (i = 0; i < 2 * pairs; i++)
        pthread_join(thread[i], NULL);
    for (i = 0; i < pairs; i++)
        sum += sums[i];
    all = (long)pairs * items;
    printf("sum %ld\n", sum);
    return sum != all * (all - 1) / 2;
}
