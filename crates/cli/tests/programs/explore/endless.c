// A thread that computes for ever, without synchronisation.
#include <pthread.h>
static void *worker(void *arg)
{
    volatile int y = 0;
    for (;;)
        y++;
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_join(t, 0);
    return 0;
}
