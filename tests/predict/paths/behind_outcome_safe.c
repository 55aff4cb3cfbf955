//@ verdict: race
//@ deadlocks: none
// As in behind_outcome.c, but what happens without the flag is inside of the critical sections.
#include <pthread.h>
#include <unistd.h>

pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
int ready, x, rounds, steps;

static void *setter(void *arg)
{
    ready = 1; // RACE#1: ready
    pthread_mutex_lock(&a);
    rounds++;
    pthread_mutex_unlock(&a);
    return arg;
}

static void *user(void *arg)
{
    usleep(50000);
    pthread_mutex_lock(&a);
    rounds++;
    pthread_mutex_unlock(&a);
    if (!ready) { // RACE#1: ready
        pthread_mutex_lock(&b);
        x = 1; // NORACE
        steps++;
        pthread_mutex_unlock(&b);
    }
    return arg;
}

static void *other(void *arg)
{
    for (int i = 0; i < 20; i++)
        usleep(5000);
    pthread_mutex_lock(&b);
    steps++;
    x = 2; // NORACE
    pthread_mutex_unlock(&b);
    return arg;
}

int main(void)
{
    pthread_t s, t, u;
    pthread_create(&s, NULL, setter, NULL);
    pthread_create(&t, NULL, user, NULL);
    pthread_create(&u, NULL, other, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return x + rounds + steps < 0;
}
