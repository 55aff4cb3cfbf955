//@ right: race
//@ answer: safe
//@ because: A product that is added may be rounded once or twice (C11 6.5p8); the interpreter rounds twice.
#include <pthread.h>

static int x;
static double a = 1 + 1e-15, b = 1 - 1e-15;

static void *worker(void *arg)
{
    if (a * b - 1.0 != 0)
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
