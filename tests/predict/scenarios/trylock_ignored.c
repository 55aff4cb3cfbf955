//@ verdict: race
//@ deadlocks: none
// The second thread tries to take the lock and writes whether it got it or not.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x;

static void *first(void *arg)
{
    pthread_mutex_lock(&m);
    usleep(100000);
    x = 1; // RACE#1: x
    pthread_mutex_unlock(&m);
    return arg;
}

static void *second(void *arg)
{
    int failed;
    usleep(50000);
    failed = pthread_mutex_trylock(&m);
    x = 2; // RACE#1: x
    if (!failed)
        pthread_mutex_unlock(&m);
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
