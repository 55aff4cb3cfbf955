//@ static: safe !A-HANDLE
// Only the creator uses the handle.
#include <pthread.h>

static pthread_t other;

static void *worker(void *arg)
{
    return arg;
}

int main(void)
{
    pthread_create(&other, NULL, worker, NULL);
    pthread_join(other, NULL);
    return 0;
}
