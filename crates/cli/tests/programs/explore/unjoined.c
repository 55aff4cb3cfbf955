// The process ends while a thread runs.
#include <pthread.h>
static int x;
static void *worker(void *arg)
{
    x = 1;
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    return x;
}
