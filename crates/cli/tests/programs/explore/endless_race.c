// Two threads write, one of them for ever.
#include <pthread.h>
static int x;
static void *worker(void *arg)
{
    for (;;)
        x++;
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    x = 1;
    pthread_join(t, 0);
    return 0;
}
