//@ verdict: race
//@ deadlocks: none
// The order goes through a thread in the middle, which has no part in the race.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t n = PTHREAD_MUTEX_INITIALIZER;
int x, y, z;

static void *first(void *arg)
{
    x = 1; // RACE#1: x
    pthread_mutex_lock(&m);
    y++;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *middle(void *arg)
{
    usleep(50000);
    pthread_mutex_lock(&m);
    y++;
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&n);
    z++;
    pthread_mutex_unlock(&n);
    return arg;
}

static void *last(void *arg)
{
    usleep(100000);
    pthread_mutex_lock(&n);
    z++;
    pthread_mutex_unlock(&n);
    x = 2; // RACE#1: x
    return arg;
}

int main(void)
{
    pthread_t r, s, t;
    pthread_create(&r, NULL, first, NULL);
    pthread_create(&s, NULL, middle, NULL);
    pthread_create(&t, NULL, last, NULL);
    pthread_join(r, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return x < 0;
}
