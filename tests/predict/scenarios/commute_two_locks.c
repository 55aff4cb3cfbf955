//@ verdict: race
//@ deadlocks: none
// Two pairs of critical sections order the writes. The sections share no data, and both pairs have to change places.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
int x, p, q, r, s;

static void *first(void *arg)
{
    x = 1; // RACE#1: x
    pthread_mutex_lock(&a);
    p++;
    pthread_mutex_unlock(&a);
    pthread_mutex_lock(&b);
    q++;
    pthread_mutex_unlock(&b);
    return arg;
}

static void *second(void *arg)
{
    usleep(50000);
    pthread_mutex_lock(&b);
    s++;
    pthread_mutex_unlock(&b);
    pthread_mutex_lock(&a);
    r++;
    pthread_mutex_unlock(&a);
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
