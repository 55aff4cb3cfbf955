//@ verdict: race
//@ deadlocks: none
// A section for writing and one for reading order the writes of x by chance.
#include <pthread.h>
#include <unistd.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int x, y, out;

static void *first(void *arg)
{
    x = 1; // RACE#1: x
    pthread_rwlock_wrlock(&lock);
    y++;
    pthread_rwlock_unlock(&lock);
    return arg;
}

static void *second(void *arg)
{
    usleep(50000);
    pthread_rwlock_rdlock(&lock);
    out = y;
    pthread_rwlock_unlock(&lock);
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
