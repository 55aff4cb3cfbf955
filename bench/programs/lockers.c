// N lockers: N threads take one lock ROUNDS times and count. All orders of the lock lead to the same state.
// A classic.
//@ check: -DN=3 -DROUNDS=1 safe optimal=6
//@ check: -DN=2 -DROUNDS=2 safe optimal=6
//@ bench: -DN=4 -DROUNDS=1
//@ bench: -DN=8 -DROUNDS=1
//@ bench: -DN=4 -DROUNDS=3
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 4
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif

static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *locker(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        count++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, locker, NULL);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(count == N * ROUNDS);
    return 0;
}
