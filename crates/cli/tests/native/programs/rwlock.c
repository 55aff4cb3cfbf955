#include <pthread.h>
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int value;
static void *wrong(void *arg)
{
    pthread_rwlock_rdlock(&lock);
    value++;
    pthread_rwlock_unlock(&lock);
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, wrong, NULL);
    pthread_create(&b, NULL, wrong, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
