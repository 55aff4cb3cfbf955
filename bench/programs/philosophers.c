// Dining philosophers: N of them, a fork between each two; each takes the left fork, then the right one, and eats once. All can take the
// left one: a deadlock. -DORDERED makes the last one start with the right fork, which avoids it.
// Dijkstra, "Hierarchical Ordering of Sequential Processes" (1971).
//@ check: -DN=2 safe deadlock
//@ check: -DN=3 safe deadlock
//@ check: -DN=3 -DORDERED safe
//@ bench: -DN=3
//@ bench: -DN=5
//@ bench: -DN=5 -DORDERED
#include <pthread.h>

#ifndef N
#define N 3
#endif

static pthread_mutex_t forks[N];
static int meals[N], uses[N];
static int ids[N];

static void *philosopher(void *arg)
{
    int id = *(int *)arg;
    int left = id, right = (id + 1) % N;
#ifdef ORDERED
    if (id == N - 1) {
        left = right;
        right = id;
    }
#endif
    pthread_mutex_lock(&forks[left]);
    pthread_mutex_lock(&forks[right]);
    meals[id]++;
    uses[left]++;
    uses[right]++;
    pthread_mutex_unlock(&forks[right]);
    pthread_mutex_unlock(&forks[left]);
    return NULL;
}

int main(void)
{
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_mutex_init(&forks[i], NULL);
    for (int i = 0; i < N; i++) {
        ids[i] = i;
        pthread_create(&threads[i], NULL, philosopher, &ids[i]);
    }
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
