// HaltException: a producer hands ITEMS work items to a consumer through a locked buffer of SIZE places, then halts it; the consumer's
// next request fails (an exception in the original). An item belongs to the producer before it is in the buffer, and to the
// consumer after. -DEARLY makes the producer touch an item after it was handed over.
// From Havelund and Pressburger, "Model Checking Java Programs using Java PathFinder" (STTT 1998); an example of the 2006 paper (Elmas,
// Qadeer, Tasiran, MSR-TR-2005-118, section 7).
//@ check: -DITEMS=1 -DSIZE=1 safe
//@ check: -DITEMS=2 -DSIZE=1 safe
//@ check: -DITEMS=1 -DSIZE=1 -DEARLY race
//@ bench: -DITEMS=2 -DSIZE=1
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#ifndef ITEMS
#define ITEMS 2
#endif
#ifndef SIZE
#define SIZE 2
#endif

struct item {
    int value;
    int steps;
};

static struct item *places[SIZE];
static int first, used, halted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void put(struct item *item)
{
    pthread_mutex_lock(&lock);
    while (used == SIZE)
        pthread_cond_wait(&changed, &lock);
    places[(first + used) % SIZE] = item;
    used++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void halt(void)
{
    pthread_mutex_lock(&lock);
    halted = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static struct item *get(void)
{
    struct item *item = NULL;
    pthread_mutex_lock(&lock);
    while (used == 0 && !halted)
        pthread_cond_wait(&changed, &lock);
    if (used > 0) {
        item = places[first];
        first = (first + 1) % SIZE;
        used--;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return item;
}

static void *produce(void *arg)
{
    (void)arg;
    for (int i = 0; i < ITEMS; i++) {
        struct item *item = malloc(sizeof *item);
        item->value = i;
        item->steps = 1;
        put(item);
#ifdef EARLY
        item->steps = 1;
#endif
    }
    halt();
    return NULL;
}

static void *consume(void *arg)
{
    (void)arg;
    int expected = 0;
    for (;;) {
        struct item *item = get();
        if (item == NULL)
            break;
        assert(item->value == expected && item->steps == 1);
        item->steps++;
        expected++;
#ifndef EARLY
        free(item);
#endif
    }
    assert(expected == ITEMS);
    return NULL;
}

int main(void)
{
    pthread_t producer, consumer;
    pthread_create(&producer, NULL, produce, NULL);
    pthread_create(&consumer, NULL, consume, NULL);
    pthread_join(producer, NULL);
    pthread_join(consumer, NULL);
    return 0;
}
