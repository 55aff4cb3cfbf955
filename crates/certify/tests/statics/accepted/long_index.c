// A counter of 64 bits, scaled.
#include <pthread.h>

static long cells[4096];

static void *worker(void *arg)
{
    unsigned long i = (unsigned long)arg;
    cells[i << 3]++;
    return NULL;
}

int main(int argc, char **argv)
{
    (void)argv;
    for (unsigned long i = 0; i < (unsigned long)argc; i++) {
        pthread_t t;
        pthread_create(&t, NULL, worker, (void *)i);
        pthread_detach(t);
    }
    pthread_exit(NULL);
}
