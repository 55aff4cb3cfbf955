//@ static: safe
// The block that a thread returns is known to who joins it, and to nobody before.
#include <pthread.h>
#include <stdlib.h>

static void *worker(void *p)
{
    int *block = malloc(sizeof *block);
    *block = 1;
    (void)p;
    return block;
}

int main(void)
{
    pthread_t t;
    void *block;
    pthread_create(&t, 0, worker, 0);
    pthread_join(t, &block);
    *(int *)block = 2;
    free(block);
    return 0;
}
