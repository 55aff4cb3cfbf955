// After 2^32 threads the counter is 0 again; nothing stops it before.
#include <pthread.h>

static int cells[16];

static void *worker(void *arg)
{
    int *cell = arg;
    (*cell)++;
    return NULL;
}

int main(void)
{
    unsigned i = 0;
    pthread_t t;
    while (i % 1024 >= 16 || pthread_create(&t, NULL, worker, &cells[i]) == 0)
        i++;
    pthread_exit(NULL);
}
