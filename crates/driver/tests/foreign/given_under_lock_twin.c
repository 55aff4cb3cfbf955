//@ static: unknown
//@ explore: unknown
//@ check: unknown
// A later call with a number may still use what was handed out.
#include <pthread.h>

extern void update(int *cell);
extern void flush(int limit);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    update(&counter);
    counter++;
    pthread_mutex_unlock(&lock);
    flush(1);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
