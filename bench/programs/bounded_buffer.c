// Bounded buffer, trylock style: a producer and a consumer try K times each to put or take an item under one mutex, and do not wait when
// the buffer of SIZE places is full or empty. The order of all 2 K critical sections matters.
// A classic; this form is the one of the table in which GenMC and Nidhugg were measured.
//@ check: -DK=2 safe optimal=6
//@ check: -DK=4 safe optimal=70
//@ bench: -DK=4
//@ bench: -DK=8
//@ paper: GenMC 12,870 in 5.2 s, Nidhugg 2.5 s
#include <assert.h>
#include <pthread.h>

#ifndef K
#define K 8
#endif
#ifndef SIZE
#define SIZE 2
#endif

static int places[SIZE];
static int first, used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int try_put(int item)
{
    int done = 0;
    pthread_mutex_lock(&lock);
    if (used < SIZE) {
        places[(first + used) % SIZE] = item;
        used++;
        done = 1;
    }
    pthread_mutex_unlock(&lock);
    return done;
}

static int try_get(int *item)
{
    int done = 0;
    pthread_mutex_lock(&lock);
    if (used > 0) {
        *item = places[first];
        first = (first + 1) % SIZE;
        used--;
        done = 1;
    }
    pthread_mutex_unlock(&lock);
    return done;
}

static void *produce(void *arg)
{
    (void)arg;
    int next = 0;
    for (int i = 0; i < K; i++)
        next += try_put(next);
    return NULL;
}

static void *consume(void *arg)
{
    (void)arg;
    int expected = 0;
    for (int i = 0; i < K; i++) {
        int item;
        if (try_get(&item)) {
            assert(item == expected);
            expected++;
        }
    }
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
