//@ static: safe
// A mutex with a priority ceiling cannot be locked by a thread of higher priority (`EINVAL`); who does not get it stays out.
#include <pthread.h>

static pthread_mutex_t lock;
static int x;

static void *worker(void *p)
{
    if (pthread_mutex_lock(&lock) != 0)
        return p;
    x++;
    pthread_mutex_unlock(&lock);
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_mutexattr_t attribute;
    pthread_mutexattr_init(&attribute);
    pthread_mutexattr_setprotocol(&attribute, PTHREAD_PRIO_PROTECT);
    pthread_mutexattr_setprioceiling(&attribute, 1);
    pthread_mutex_init(&lock, &attribute);
    pthread_create(&t, 0, worker, 0);
    worker(0);
    pthread_join(t, 0);
    return 0;
}
