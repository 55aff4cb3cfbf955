// A thread that creates its like.
#include <pthread.h>
static void *worker(void *arg)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    return arg;
}
int main(void)
{
    worker(0);
    return 0;
}
