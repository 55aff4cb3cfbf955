// A thread that calls itself for ever.
#include <pthread.h>
static int deeper(int n)
{
    return deeper(n + 1) + 1;
}
static void *worker(void *arg)
{
    return deeper(0) ? arg : 0;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_join(t, 0);
    return 0;
}
