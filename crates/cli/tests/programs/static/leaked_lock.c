#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static int fails(int n)
{
    pthread_mutex_lock(&m);
    if (n > 3)
        return -1;
    pthread_mutex_unlock(&m);
    return 0;
}
static void *worker(void *p)
{
    fails(p != 0);
    x++;
    return p;
}
int main(int argc, char **argv)
{
    pthread_t t;
    (void)argv;
    pthread_create(&t, 0, worker, 0);
    fails(argc);
    x++;
    return pthread_join(t, 0);
}
