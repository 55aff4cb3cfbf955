//@ static: safe
// Inheritance has no ceiling: the lock does not fail.
#include <pthread.h>

static pthread_mutex_t lock;
static int x;

static void *worker(void *p)
{
    pthread_mutex_lock(&lock);
    x++;
    pthread_mutex_unlock(&lock);
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_mutexattr_t attribute;
    pthread_mutexattr_init(&attribute);
    pthread_mutexattr_setprotocol(&attribute, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&lock, &attribute);
    pthread_create(&t, 0, worker, 0);
    worker(0);
    pthread_join(t, 0);
    return 0;
}
