// An address, negated twice.
#include <pthread.h>
#include <stdint.h>

static int g;
static uintptr_t hidden;

static void *worker(void *arg)
{
    int *p = (int *)-hidden;
    (*p)++;
    return arg;
}

int main(void)
{
    pthread_t t;
    hidden = -(uintptr_t)&g;
    pthread_create(&t, NULL, worker, NULL);
    g++;
    pthread_join(t, NULL);
    return 0;
}
