//@ right: race
//@ answer: safe
//@ because: That malloc(0) may return null is taken for a failure, which A-MALLOC excludes (C11 7.22.3).
#include <pthread.h>
#include <stdlib.h>

static int x;

static void *worker(void *arg)
{
    void *block = malloc(0);
    if (block == NULL)
        x++;
    free(block);
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
