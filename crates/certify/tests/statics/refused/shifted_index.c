// i << 61 is 0 for i = 0 and i = 8.
#include <pthread.h>

static char cells[64];

static void *worker(void *arg)
{
    unsigned long i = (unsigned long)arg;
    if (i % 8 == 0)
        cells[i << 61]++;
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
