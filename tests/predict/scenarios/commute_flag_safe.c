//@ verdict: safe
//@ deadlocks: none
// The critical sections cannot change places: x is read only when the flag was seen.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x, ready, out;

static void *first(void *arg)
{
    x = 1; // NORACE: x
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *second(void *arg)
{
    int seen;
    usleep(50000);
    pthread_mutex_lock(&m);
    seen = ready;
    pthread_mutex_unlock(&m);
    if (seen)
        out = x; // NORACE: x
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, first, NULL);
    pthread_create(&t, NULL, second, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return out < 0;
}
