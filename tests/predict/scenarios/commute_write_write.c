//@ verdict: race
//@ deadlocks: none
// After the example of "Sound predictive race detection" (Smaragdakis et al.) of a race that happens-before misses. The usual
// order of the critical sections orders the writes of x; in the opposite order nothing does.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x, y;

static void *first(void *arg)
{
    x = 1; // RACE#1: x
    pthread_mutex_lock(&m);
    y = 1;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *second(void *arg)
{
    usleep(50000);
    pthread_mutex_lock(&m);
    y = 2;
    pthread_mutex_unlock(&m);
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
    return x < 0;
}
