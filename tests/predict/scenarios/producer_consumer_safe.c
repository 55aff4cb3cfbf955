//@ verdict: safe
//@ deadlocks: none
// A ring of two places for three items, one lock, two conditions.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER, not_full = PTHREAD_COND_INITIALIZER;
int ring[2], count, sum;

static void *producer(void *arg)
{
    int i;
    for (i = 0; i < 3; i++) {
        pthread_mutex_lock(&m);
        while (count == 2)
            pthread_cond_wait(&not_full, &m);
        ring[i % 2] = i; // NORACE: ring
        count++;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&m);
    }
    return arg;
}

static void *consumer(void *arg)
{
    int i;
    for (i = 0; i < 3; i++) {
        pthread_mutex_lock(&m);
        while (count == 0)
            pthread_cond_wait(&not_empty, &m);
        sum += ring[i % 2]; // NORACE: ring
        count--;
        pthread_cond_signal(&not_full);
        pthread_mutex_unlock(&m);
    }
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, producer, NULL);
    pthread_create(&t, NULL, consumer, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return sum < 0;
}
