#include <pthread.h>
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static int balance;
static void deposit(pthread_mutex_t *lock, int amount)
{
    pthread_mutex_lock(lock);
    balance += amount;
    pthread_mutex_unlock(lock);
}
static void *one(void *arg)
{
    pthread_mutex_lock(&first);
    balance += 1;
    pthread_mutex_unlock(&first);
    return arg;
}
static void *two(void *arg)
{
    deposit(&second, 2);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, one, NULL);
    pthread_create(&b, NULL, two, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
