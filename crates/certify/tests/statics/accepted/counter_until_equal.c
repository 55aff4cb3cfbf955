// A counter by ones stops at the bound before it comes round.
#include <pthread.h>
#include <stdlib.h>

static int cells[64];

static void *worker(void *arg)
{
    int *cell = arg;
    (*cell)++;
    return NULL;
}

int main(int argc, char **argv)
{
    unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
    for (unsigned i = 0; i != count; i++) {
        pthread_t t;
        pthread_create(&t, NULL, worker, &cells[i]);
        pthread_detach(t);
    }
    pthread_exit(NULL);
}
