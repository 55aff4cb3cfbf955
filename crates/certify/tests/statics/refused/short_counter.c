// The counter comes round after 256 threads.
#include <pthread.h>

static int cells[256];

static void *worker(void *p)
{
    int *cell = p;
    (*cell)++;
    return NULL;
}

int main(int argc, char **argv)
{
    (void)argv;
    unsigned char i = 0;
    for (int n = 0; n < argc; n++) {
        pthread_t t;
        pthread_create(&t, NULL, worker, &cells[i]);
        i++;
    }
    pthread_exit(NULL);
}
