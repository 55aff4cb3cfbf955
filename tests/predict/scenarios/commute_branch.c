//@ verdict: race
//@ deadlocks: none
// The race needs the critical sections in the other order, and then the branch goes the other way, too.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x, done, skipped;

static void *first(void *arg)
{
    x = 1; // RACE#1: x
    pthread_mutex_lock(&m);
    done = 1;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *second(void *arg)
{
    int seen;
    usleep(50000);
    pthread_mutex_lock(&m);
    seen = done;
    pthread_mutex_unlock(&m);
    if (!seen)
        skipped++;
    x = 2; // RACE#1: x
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, first, NULL);
    pthread_create(&t, NULL, second, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return x + skipped < 0;
}
