// The creator multiplies: 2^62 times 4 is 0 modulo 2^64.
#include <pthread.h>

static char cells[64];

static void *worker(void *arg)
{
    char *cell = arg;
    (*cell)++;
    return NULL;
}

int main(int argc, char **argv)
{
    (void)argv;
    for (unsigned long i = 0; i < (unsigned long)argc; i++) {
        pthread_t t;
        if (i % 4 != 0)
            continue;
        pthread_create(&t, NULL, worker, &cells[i * (1ul << 62)]);
        pthread_detach(t);
    }
    pthread_exit(NULL);
}
