#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void odd(int n);
static void even(int n)
{
    pthread_mutex_lock(&m);
    x++;
    pthread_mutex_unlock(&m);
    if (n > 0)
        odd(n - 1);
}
static void odd(int n)
{
    if (n > 0)
        even(n - 1);
}
static void *worker(void *p)
{
    even(100);
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    odd(7);
    return pthread_join(t, 0);
}
