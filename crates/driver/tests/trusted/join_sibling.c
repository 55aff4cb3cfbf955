//@ static: safe
// A thread that nobody waits for in turn is waited for to its end.
#include <pthread.h>

static pthread_t first, second;
static int x;

static void *one(void *p)
{
    x = 1;
    return p;
}

static void *two(void *p)
{
    pthread_join((pthread_t)p, 0);
    x = 2;
    return 0;
}

int main(void)
{
    pthread_create(&first, 0, one, 0);
    pthread_create(&second, 0, two, (void *)first);
    pthread_exit(0);
}
