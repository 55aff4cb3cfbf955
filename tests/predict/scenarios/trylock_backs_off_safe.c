//@ verdict: safe
//@ deadlocks: none
// Opposite orders, but the second thread only tries, and backs off.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
int x, missed;

static void *first(void *arg)
{
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    x++; // NORACE: x
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return arg;
}

static void *second(void *arg)
{
    pthread_mutex_lock(&b);
    if (pthread_mutex_trylock(&a) == 0) {
        x++; // NORACE: x
        pthread_mutex_unlock(&a);
    } else {
        missed = 1;
    }
    pthread_mutex_unlock(&b);
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, first, NULL);
    pthread_create(&t, NULL, second, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return x + missed < 0;
}
