/* Producers and consumers around a bounded queue with a mutex and two conditions; each item is a block that the consumer sums up. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef ITEMS
#define ITEMS 400000
#endif
#define PRODUCERS 2
#define CONSUMERS 2
#define ROOM 64
#define WORDS 64

struct item {
    int words[WORDS];
};

static struct item *items[ROOM];
static int first, count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;

static void put(struct item *item)
{
    pthread_mutex_lock(&lock);
    while (count == ROOM)
        pthread_cond_wait(&not_full, &lock);
    items[(first + count++) % ROOM] = item;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
}

static struct item *take(void)
{
    pthread_mutex_lock(&lock);
    while (count == 0)
        pthread_cond_wait(&not_empty, &lock);
    struct item *item = items[first];
    first = (first + 1) % ROOM;
    count--;
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&lock);
    return item;
}

static void *produce(void *arg)
{
    for (int i = 0; i < ITEMS / PRODUCERS; i++) {
        struct item *item = malloc(sizeof *item);
        for (int j = 0; j < WORDS; j++)
            item->words[j] = i + j;
        put(item);
    }
    return arg;
}

static void *consume(void *arg)
{
    long sum = 0;
    for (int i = 0; i < ITEMS / CONSUMERS; i++) {
        struct item *item = take();
        for (int j = 0; j < WORDS; j++)
            sum += item->words[j];
        free(item);
    }
    return (void *)(sum + (arg != NULL));
}

int main(void)
{
    pthread_t producers[PRODUCERS], consumers[CONSUMERS];
    long sum = 0;
    for (int i = 0; i < PRODUCERS; i++)
        pthread_create(&producers[i], NULL, produce, NULL);
    for (int i = 0; i < CONSUMERS; i++)
        pthread_create(&consumers[i], NULL, consume, NULL);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(producers[i], NULL);
    for (int i = 0; i < CONSUMERS; i++) {
        void *part;
        pthread_join(consumers[i], &part);
        sum += (long)part;
    }
    printf("%ld\n", sum);
    return 0;
}
