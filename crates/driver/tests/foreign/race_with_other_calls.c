//@ static: unknown
//@ explore: race
//@ check: race
// One thread gives shared memory without locks to functions without a body; the other calls none: the race is reported.
#include <pthread.h>

extern void show(const int *cell);

static int counter;

static void *worker(void *arg)
{
    show(&counter);
    counter++;
    return arg;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, worker, NULL);
    counter++;
    pthread_join(a, NULL);
    return 0;
}
