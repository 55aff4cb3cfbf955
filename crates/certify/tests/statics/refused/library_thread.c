// A thread may be a function of the library: this one frees the block.
#include <pthread.h>
#include <stdlib.h>

int main(void)
{
    pthread_t t;
    int *p = malloc(sizeof *p);
    pthread_create(&t, NULL, (void *(*)(void *))free, p);
    *p = 1;
    pthread_join(t, NULL);
    return 0;
}
