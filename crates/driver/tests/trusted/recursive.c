//@ static: safe A-LOCK
// A recursive mutex may be taken too often.
#include <pthread.h>

static pthread_mutex_t lock;
static int x;

static void *worker(void *p)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
    x++;
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&lock);
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_mutexattr_t attribute;
    pthread_mutexattr_init(&attribute);
    pthread_mutexattr_settype(&attribute, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &attribute);
    pthread_create(&t, 0, worker, 0);
    worker(0);
    pthread_join(t, 0);
    return 0;
}
