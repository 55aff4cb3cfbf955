// A structure is assigned with the lock in it.
#include <pthread.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};

static struct account one = {PTHREAD_MUTEX_INITIALIZER, 1}, two = {PTHREAD_MUTEX_INITIALIZER, 2};

static void *worker(void *arg)
{
    pthread_mutex_lock(&one.lock);
    one.balance++;
    pthread_mutex_unlock(&one.lock);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_mutex_lock(&one.lock);
    one = two;
    pthread_mutex_unlock(&one.lock);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
