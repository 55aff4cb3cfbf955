//@ verdict: race
//@ deadlocks: none
// Both threads write under the lock, but only hold it for reading.
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int x;

static void *first(void *arg)
{
    pthread_rwlock_rdlock(&lock);
    x = 1; // RACE#1: x
    pthread_rwlock_unlock(&lock);
    return arg;
}

static void *second(void *arg)
{
    pthread_rwlock_rdlock(&lock);
    x = 2; // RACE#1: x
    pthread_rwlock_unlock(&lock);
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
