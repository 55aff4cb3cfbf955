/* Atomics: THREADS threads add to shared counters, publish through an acquire/release flag and retry a compare-and-swap. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#ifndef ROUNDS
#define ROUNDS 4000000
#endif
#define THREADS 4

static atomic_long relaxed, sequential, maximum;
static _Alignas(64) atomic_long own[THREADS][8];

static void *worker(void *arg)
{
    long number = (long)arg, seen = 0;
    for (long i = 0; i < ROUNDS / THREADS; i++) {
        atomic_fetch_add_explicit(&own[number][0], 1, memory_order_relaxed);
        if (i % 4 == 0)
            atomic_fetch_add_explicit(&relaxed, 1, memory_order_relaxed);
        if (i % 16 == 0)
            atomic_fetch_add(&sequential, 1);
        if (i % 64 == 0) {
            long old = atomic_load_explicit(&maximum, memory_order_acquire);
            while (old < i && !atomic_compare_exchange_weak_explicit(&maximum, &old, i, memory_order_acq_rel, memory_order_relaxed))
                ;
        }
        seen += atomic_load_explicit(&own[(number + 1) % THREADS][0], memory_order_acquire) > 0;
    }
    return (void *)seen;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%ld %ld\n", (long)relaxed, (long)sequential);
    return 0;
}
