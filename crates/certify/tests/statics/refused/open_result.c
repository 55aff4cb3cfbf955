// The standard leaves the result open: the branch for another value than the interpreter's is not dead.
#include <pthread.h>
#include <sched.h>

static int counter;

static void *worker(void *arg)
{
    if (sched_get_priority_max(SCHED_FIFO) != 0)
        counter++;
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
