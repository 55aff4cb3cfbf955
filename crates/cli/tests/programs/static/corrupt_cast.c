#include <pthread.h>
static int data[4] = { 1, 2, 3, 4 };
static void *worker(void *p)
{
    ((void (*)(void))data)();
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    return pthread_join(t, 0);
}
