//@ verdict: safe
//@ deadlocks: found
// A wait without a predicate: the signal may come before it, and is lost then.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
int x;

static void *waits(void *arg)
{
    pthread_mutex_lock(&m);
    pthread_cond_wait(&ready, &m); // FINDING: deadlock
    x++;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *signals(void *arg)
{
    usleep(50000);
    pthread_mutex_lock(&m);
    x++;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, waits, NULL);
    pthread_create(&t, NULL, signals, NULL);
    pthread_join(s, NULL); // FINDING: deadlock
    pthread_join(t, NULL);
    return x < 0;
}
