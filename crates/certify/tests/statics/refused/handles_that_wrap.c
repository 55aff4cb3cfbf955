// All handles are in one cell, for 8 times 2^61 is 0 modulo 2^64: only the last thread is joined.
#include <pthread.h>

static pthread_t handles[4];
static int shared;

static void *worker(void *arg)
{
    return shared ? arg : NULL;
}

int main(int argc, char **argv)
{
    (void)argv;
    unsigned long count = (unsigned long)argc;
    for (unsigned long i = 0; i < count; i++)
        pthread_create(&handles[i * (1ul << 60)], NULL, worker, NULL);
    for (unsigned long i = 0; i < count; i++)
        pthread_join(handles[i * (1ul << 60)], NULL);
    shared = 1;
    return 0;
}
