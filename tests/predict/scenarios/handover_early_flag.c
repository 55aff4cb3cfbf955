//@ verdict: race
//@ deadlocks: none
// The flag is set before the buffer is filled. A later critical section of the producer hides it.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int buffer, ready, filled, out;

static void *producer(void *arg)
{
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_mutex_unlock(&m);
    buffer = 42; // RACE#1: buffer
    pthread_mutex_lock(&m);
    filled++;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *consumer(void *arg)
{
    int seen;
    usleep(50000);
    pthread_mutex_lock(&m);
    seen = ready;
    pthread_mutex_unlock(&m);
    if (seen)
        out = buffer; // RACE#1: buffer
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, producer, NULL);
    pthread_create(&t, NULL, consumer, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return out + filled < 0;
}
