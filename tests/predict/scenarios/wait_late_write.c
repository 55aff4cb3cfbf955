//@ verdict: race
//@ deadlocks: none
// The signal and its flag come before the write that they announce.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
int flag, x, out;

static void *sender(void *arg)
{
    pthread_mutex_lock(&m);
    flag = 1;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&m);
    x = 1; // RACE#1: x
    return arg;
}

static void *receiver(void *arg)
{
    pthread_mutex_lock(&m);
    while (!flag)
        pthread_cond_wait(&ready, &m);
    pthread_mutex_unlock(&m);
    out = x; // RACE#1: x
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, sender, NULL);
    pthread_create(&t, NULL, receiver, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return out < 0;
}
