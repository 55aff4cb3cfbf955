// lastzero: N threads set array[i] to array[i - 1] + 1 while one looks for the last zero from the end. Atomic accesses.
// From Abdulla, Aronis, Jonsson and Sagonas, "Optimal Dynamic Partial Order Reduction" (POPL 2014), section 9.
//@ check: -DN=3 safe optimal=12
//@ check: -DN=5 safe optimal=64
//@ bench: -DN=10
//@ bench: -DN=15
//@ paper: GenMC 147,456 in 21.5 s, Nidhugg 41.5 s
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 5
#endif

static atomic_int array[N + 1];
static int ids[N + 1];

static void *look(void *arg)
{
    (void)arg;
    int i = N;
    while (atomic_load(&array[i]) != 0)
        i--;
    return NULL;
}

static void *count(void *arg)
{
    int i = *(int *)arg;
    atomic_store(&array[i], atomic_load(&array[i - 1]) + 1);
    return NULL;
}

int main(void)
{
    pthread_t threads[N + 1];
    for (int i = 0; i <= N; i++) {
        ids[i] = i;
        pthread_create(&threads[i], NULL, i == 0 ? look : count, &ids[i]);
    }
    for (int i = 0; i <= N; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
