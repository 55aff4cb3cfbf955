//@ verdict: race
//@ deadlocks: none
// The producer fills the buffer again without asking whether the consumer is done with it.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int buffer, full, rounds, out;

static void *producer(void *arg)
{
    buffer = 1; // NORACE: buffer
    pthread_mutex_lock(&m);
    full = 1;
    pthread_mutex_unlock(&m);
    usleep(120000);
    pthread_mutex_lock(&m);
    rounds++;
    pthread_mutex_unlock(&m);
    buffer = 2; // RACE#1: buffer
    return arg;
}

static void *consumer(void *arg)
{
    int seen;
    usleep(50000);
    pthread_mutex_lock(&m);
    seen = full;
    pthread_mutex_unlock(&m);
    if (seen)
        out = buffer; // RACE#1: buffer
    pthread_mutex_lock(&m);
    rounds++;
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, producer, NULL);
    pthread_create(&t, NULL, consumer, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return out < 0;
}
