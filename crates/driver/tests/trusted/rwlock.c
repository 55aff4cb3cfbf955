//@ static: safe A-LOCK
// `pthread_rwlock_rdlock` may fail where there are too many readers; nobody looks at its result.
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int x;

static void *reader(void *p)
{
    pthread_rwlock_rdlock(&lock);
    long now = x;
    pthread_rwlock_unlock(&lock);
    return (void *)(now + (long)p);
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, reader, 0);
    pthread_rwlock_wrlock(&lock);
    x++;
    pthread_rwlock_unlock(&lock);
    pthread_join(t, 0);
    return 0;
}
