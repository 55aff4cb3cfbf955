//@ right: race
//@ answer: safe
//@ because: Whether the end of one object is the start of another is open (C11 6.5.9); equality does not count for A-ADDRESS.
#include <pthread.h>

static int first, second, x;

static void *worker(void *arg)
{
    if (&first + 1 == &second)
        x++;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
