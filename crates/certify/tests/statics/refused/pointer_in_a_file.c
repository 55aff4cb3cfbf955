// Each thread makes a block, writes its address to a file, and takes the next address from there: maybe that of the other's block.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int *swap(int *mine)
{
    int *other = mine;
    write(3, &mine, sizeof mine);
    read(3, &other, sizeof other);
    return other;
}

static void *worker(void *arg)
{
    int *block = malloc(sizeof *block);
    *swap(block) = 1;
    *block = 2;
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
