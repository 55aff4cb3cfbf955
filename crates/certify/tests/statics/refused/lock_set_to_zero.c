// Zeros make a new mutex of one that is held.
#include <pthread.h>
#include <string.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int shared;

static void *worker(void *arg)
{
    pthread_mutex_lock(&m);
    shared++;
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    memset(&m, 0, sizeof m);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared;
}
