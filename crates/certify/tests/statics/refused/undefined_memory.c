// Memory that was never written holds any value, on the stack and on the heap.
#include <pthread.h>
#include <stdlib.h>

static int shared;

static int read_it(int *at)
{
    return *at;
}

static void *worker(void *arg)
{
    int local;
    int *block = malloc(sizeof *block);
    if (block == NULL)
        return NULL;
    if (read_it(&local) != 0 && *block != 0)
        shared++;
    free(block);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    shared++;
    pthread_join(t, NULL);
    return 0;
}
