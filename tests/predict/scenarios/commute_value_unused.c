//@ verdict: race
//@ deadlocks: none
// The second critical section reads what the first wrote, but no branch depends on it: the sections can change places.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x, y;

static void *first(void *arg)
{
    x = 1; // RACE#1: x
    pthread_mutex_lock(&m);
    y = 5;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *second(void *arg)
{
    int seen;
    usleep(50000);
    pthread_mutex_lock(&m);
    seen = y;
    pthread_mutex_unlock(&m);
    x = seen; // RACE#1: x
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, first, NULL);
    pthread_create(&t, NULL, second, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return x < 0;
}
