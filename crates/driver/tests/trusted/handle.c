//@ static: safe A-HANDLE
// The new thread reads the handle where its creator stores it.
#include <pthread.h>

static pthread_t own;

static void *worker(void *arg)
{
    return pthread_equal(own, pthread_self()) ? arg : NULL;
}

int main(void)
{
    pthread_create(&own, NULL, worker, NULL);
    pthread_join(own, NULL);
    return 0;
}
