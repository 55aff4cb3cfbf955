//@ verdict: safe
//@ deadlocks: found
// Four threads around a table of 4 forks: each takes the one on its left first.
#include <pthread.h>
#include <unistd.h>

#define N 4
static pthread_mutex_t fork_of[N] = {
    PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER,
};
static int ids[N] = {0, 1, 2, 3};
int meals[N];

static void *eat(void *arg)
{
    int id = *(int *)arg;
    usleep(id * 30000);
    pthread_mutex_lock(&fork_of[id]);
    pthread_mutex_lock(&fork_of[(id + 1) % N]); // FINDING: deadlock
    meals[id]++;
    pthread_mutex_unlock(&fork_of[(id + 1) % N]);
    pthread_mutex_unlock(&fork_of[id]);
    return arg;
}

int main(void)
{
    pthread_t t[N];
    int i;
    for (i = 0; i < N; i++)
        pthread_create(&t[i], NULL, eat, &ids[i]);
    for (i = 0; i < N; i++)
        pthread_join(t[i], NULL); // FINDING: deadlock
    return meals[0] < 0;
}
