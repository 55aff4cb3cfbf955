//@ static: safe A-THREAD
// The initialisation of a barrier may fail, and then the wait.
#include <pthread.h>

static pthread_barrier_t barrier;
static int x;

static void *worker(void *p)
{
    x = 1;
    pthread_barrier_wait(&barrier);
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&t, 0, worker, 0);
    pthread_barrier_wait(&barrier);
    x = 2;
    pthread_join(t, 0);
    return 0;
}
