#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int locked;
static int bare;
static void with_lock(void)
{
    pthread_mutex_lock(&m);
    locked++;
    pthread_mutex_unlock(&m);
}
static void without(void)
{
    bare++;
}
static void (*const table[])(void) = { with_lock, without };
static void *worker(void *p)
{
    for (unsigned i = 0; i < 2; i++)
        table[i]();
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    worker(0);
    return pthread_join(t, 0);
}
