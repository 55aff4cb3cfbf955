// The thread may wait for the barrier before it is initialised: then it does not wait.
#include <pthread.h>

static int counter;
static pthread_barrier_t b;

static void *worker(void *arg)
{
    pthread_barrier_wait(&b);
    counter++;
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    pthread_barrier_init(&b, NULL, 2);
    counter++;
    pthread_barrier_wait(&b);
    pthread_join(t, NULL);
    return 0;
}
