/* One thread frees what the other still reads. */
#include <pthread.h>
#include <stdlib.h>
static int *block;
static void *frees(void *arg)
{
    free(block);
    return arg;
}
static void *reads(void *arg)
{
    return *block ? arg : NULL;
}
int main(void)
{
    pthread_t a, b;
    block = calloc(4, sizeof *block);
    pthread_create(&a, NULL, reads, NULL);
    pthread_create(&b, NULL, frees, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
