#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int cleaned;
static void clean(void *arg)
{
    cleaned = 1;
    pthread_mutex_unlock(arg);
}
static void *waits(void *arg)
{
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(clean, &lock);
    for (;;)
        pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(1);
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, waits, NULL);
    usleep(20000);
    pthread_cancel(a);
    pthread_join(a, NULL);
    pthread_mutex_lock(&lock);
    printf("%d\n", cleaned);
    pthread_mutex_unlock(&lock);
    return 0;
}
