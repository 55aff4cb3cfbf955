// The distance of two objects, as a number, leads from one to the other.
#include <pthread.h>
#include <stdint.h>

static int g, r;
static uintptr_t distance;

static void *worker(void *arg)
{
    int *p = (int *)((uintptr_t)&r + distance);
    (*p)++;
    return arg;
}

int main(void)
{
    pthread_t t;
    distance = (uintptr_t)&g - (uintptr_t)&r;
    pthread_create(&t, NULL, worker, NULL);
    g++;
    pthread_join(t, NULL);
    return 0;
}
