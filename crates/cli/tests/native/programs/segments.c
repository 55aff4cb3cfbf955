/* The same variables before a lock, under one, under two. */
#include <pthread.h>
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static int once, thrice;
static void *work(void *arg)
{
    once++;
    once++;
    pthread_mutex_lock(&outer);
    thrice++;
    thrice++;
    pthread_mutex_lock(&inner);
    thrice++;
    pthread_mutex_unlock(&inner);
    thrice++;
    pthread_mutex_unlock(&outer);
    return arg;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return once;
}
