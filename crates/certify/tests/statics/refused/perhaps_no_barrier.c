// The barrier is initialised on one way only: on the other it lets each thread through alone.
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);

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
    if (__VERIFIER_nondet_bool())
        pthread_barrier_init(&b, NULL, 2);
    pthread_create(&t, NULL, worker, NULL);
    counter++;
    pthread_barrier_wait(&b);
    pthread_join(t, NULL);
    return 0;
}
