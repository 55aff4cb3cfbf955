//@ verdict: safe
//@ deadlocks: none
// The buffer goes to the consumer and comes back, each time with the flag.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int buffer, full, out;

static void *producer(void *arg)
{
    buffer = 1; // NORACE: buffer
    pthread_mutex_lock(&m);
    full = 1;
    pthread_cond_signal(&changed);
    while (full)
        pthread_cond_wait(&changed, &m);
    pthread_mutex_unlock(&m);
    buffer = 2; // NORACE: buffer
    return arg;
}

static void *consumer(void *arg)
{
    pthread_mutex_lock(&m);
    while (!full)
        pthread_cond_wait(&changed, &m);
    pthread_mutex_unlock(&m);
    out = buffer; // NORACE: buffer
    pthread_mutex_lock(&m);
    full = 0;
    pthread_cond_signal(&changed);
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
