//@ static: safe A-EXTERN A-EXTLOCAL
//@ explore: unknown
//@ check: safe
// A local variable of the calling thread.
#include <pthread.h>

extern int compute(int *result, int by);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int counter;

static void *worker(void *arg)
{
    int local = 1;
    compute(&local, 5);
    pthread_mutex_lock(&lock);
    counter += local;
    pthread_mutex_unlock(&lock);
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
