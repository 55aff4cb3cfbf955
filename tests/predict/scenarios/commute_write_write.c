//@ verdict: race
//@ deadlocks: none
// The first figure of "Sound predictive race detection" (Smaragdakis et al.), with two writes of x. The usual order of the
// critical sections orders them; in the opposite order nothing does.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x, y;

static void *first(void *arg)
{
    x = 1; // RACE#1: x
    pthread_mutex_lock(&m);
    y++;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *second(void *arg)
{
    usleep(50000);
    pthread_mutex_lock(&m);
    y++;
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
