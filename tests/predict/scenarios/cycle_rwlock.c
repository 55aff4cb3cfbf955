//@ verdict: safe
//@ deadlocks: found
// A cycle of a mutex and a lock that one thread takes for reading, the other for writing.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int x;

static void *first(void *arg)
{
    pthread_rwlock_rdlock(&lock);
    pthread_mutex_lock(&m); // FINDING: deadlock
    x++;
    pthread_mutex_unlock(&m);
    pthread_rwlock_unlock(&lock);
    return arg;
}

static void *second(void *arg)
{
    usleep(50000);
    pthread_mutex_lock(&m);
    pthread_rwlock_wrlock(&lock); // FINDING: deadlock
    x++;
    pthread_rwlock_unlock(&lock);
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, first, NULL);
    pthread_create(&t, NULL, second, NULL);
    pthread_join(s, NULL); // FINDING: deadlock
    pthread_join(t, NULL);
    return x < 0;
}
