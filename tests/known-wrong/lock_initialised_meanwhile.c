//@ right: race
//@ answer: safe
//@ because: pthread_mutex_init and pthread_mutex_destroy are operations of the lock for both engines; they write it (POSIX XBD 4.12).
#include <pthread.h>

static pthread_mutex_t lock;

static void *maker(void *arg)
{
    pthread_mutex_init(&lock, NULL);
    return arg;
}

static void *user(void *arg)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, maker, NULL);
    pthread_create(&b, NULL, user, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
