//@ static: safe A-EXTLOCK A-EXTNAME
//@ explore: unknown
//@ check: safe
// Given before any thread is created, and no call after that.
#include <pthread.h>

extern void configure(int *cell);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int limit;
static int counter;

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    counter += limit;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    configure(&limit);
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
