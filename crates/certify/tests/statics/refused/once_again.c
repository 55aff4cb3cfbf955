// The control is set back, so the function runs again.
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int value;

static void init(void)
{
    value++;
}

static void *worker(void *arg)
{
    pthread_once(&once, init);
    return value ? arg : NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    once = PTHREAD_ONCE_INIT;
    pthread_once(&once, init);
    pthread_join(t, NULL);
    return 0;
}
