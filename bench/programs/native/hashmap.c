/* A hash map with a lock per stripe: THREADS threads insert, look up and delete random keys. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef OPERATIONS
#define OPERATIONS 2000000
#endif
#define THREADS 4
#define STRIPES 64
#define BUCKETS 65536

struct entry {
    struct entry *next;
    uint64_t key, value;
};

static struct entry *buckets[BUCKETS];
static pthread_mutex_t stripes[STRIPES];

static uint64_t mixed(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    return x ^ x >> 29;
}

static uint64_t put(uint64_t key, uint64_t value)
{
    uint64_t bucket = mixed(key) % BUCKETS;
    pthread_mutex_t *lock = &stripes[bucket % STRIPES];
    pthread_mutex_lock(lock);
    struct entry *entry = buckets[bucket];
    while (entry && entry->key != key)
        entry = entry->next;
    if (!entry) {
        entry = malloc(sizeof *entry);
        entry->key = key;
        entry->value = 0;
        entry->next = buckets[bucket];
        buckets[bucket] = entry;
    }
    entry->value += value;
    uint64_t result = entry->value;
    pthread_mutex_unlock(lock);
    return result;
}

static uint64_t get(uint64_t key)
{
    uint64_t bucket = mixed(key) % BUCKETS, result = 0;
    pthread_mutex_t *lock = &stripes[bucket % STRIPES];
    pthread_mutex_lock(lock);
    for (struct entry *entry = buckets[bucket]; entry; entry = entry->next)
        if (entry->key == key) {
            result = entry->value;
            break;
        }
    pthread_mutex_unlock(lock);
    return result;
}

static void drop(uint64_t key)
{
    uint64_t bucket = mixed(key) % BUCKETS;
    pthread_mutex_t *lock = &stripes[bucket % STRIPES];
    struct entry *dropped = NULL;
    pthread_mutex_lock(lock);
    for (struct entry **link = &buckets[bucket]; *link; link = &(*link)->next)
        if ((*link)->key == key) {
            dropped = *link;
            *link = dropped->next;
            break;
        }
    pthread_mutex_unlock(lock);
    free(dropped);
}

static void *worker(void *arg)
{
    uint64_t state = (uint64_t)(uintptr_t)arg * 0x9E3779B97F4A7C15ull + 1, sum = 0;
    for (int i = 0; i < OPERATIONS / THREADS; i++) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        uint64_t key = (state >> 33) % 100000;
        switch (state >> 60) {
        case 0: drop(key); break;
        case 1: case 2: case 3: case 4: sum += put(key, 1); break;
        default: sum += get(key);
        }
    }
    return (void *)(uintptr_t)sum;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < STRIPES; i++)
        pthread_mutex_init(&stripes[i], NULL);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, (void *)(i + 1));
    uint64_t sum = 0;
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        sum += (uintptr_t)result;
    }
    printf("%d\n", sum > 0);
    return 0;
}
