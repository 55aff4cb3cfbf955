#include <pthread.h>
static int x;
static int y;
static void never(void)
{
    x++;
}
static void *worker(void *p)
{
    if (0)
        x++;
    y++;
    return p;
    x--;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    x = 1;
    if (sizeof x == 0)
        never();
    return pthread_join(t, 0);
}
