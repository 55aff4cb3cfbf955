// An unsigned counter below a bound does not come round.
#include <pthread.h>
#include <stdlib.h>

static void *worker(void *arg)
{
    (*(int *)arg)++;
    return NULL;
}

int main(int argc, char **argv)
{
    unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
    int *cells = calloc(count, sizeof *cells);
    if (cells == NULL)
        return 1;
    for (unsigned i = 0; i < count; i++) {
        pthread_t t;
        pthread_create(&t, NULL, worker, &cells[i]);
        pthread_detach(t);
    }
    pthread_exit(NULL);
}
