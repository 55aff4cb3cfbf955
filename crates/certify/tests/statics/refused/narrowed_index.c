// The argument is cut to fewer bits than the counter has.
#include <pthread.h>

static int cells[256];

static void *worker(void *arg)
{
    cells[(unsigned char)(unsigned long)arg]++;
    return NULL;
}

int main(int argc, char **argv)
{
    (void)argv;
    for (int i = 0; i < argc; i++) {
        pthread_t t;
        pthread_create(&t, NULL, worker, (void *)(long)i);
        pthread_detach(t);
    }
    pthread_exit(NULL);
}
