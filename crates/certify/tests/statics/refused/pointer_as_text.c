// The address travels as text.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static char text[64];

static void *worker(void *arg)
{
    void *block = NULL;
    sscanf(text, "%p", &block);
    if (block)
        *(int *)block = 2;
    return arg;
}

int main(void)
{
    pthread_t a;
    int *block = malloc(sizeof *block);
    sprintf(text, "%p", (void *)block);
    pthread_create(&a, NULL, worker, NULL);
    *block = 1;
    pthread_join(a, NULL);
    return 0;
}
