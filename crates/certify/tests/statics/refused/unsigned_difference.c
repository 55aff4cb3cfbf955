// 8 bits: n - i wraps around and comes back.
#include <pthread.h>

static int cells[256];

static void *worker(void *arg)
{
    cells[(unsigned long)arg]++;
    return NULL;
}

int main(int argc, char **argv)
{
    (void)argv;
    for (int i = 0; i < argc; i++) {
        pthread_t t;
        unsigned char n = (unsigned char)(200 - i);
        pthread_create(&t, NULL, worker, (void *)(unsigned long)n);
        pthread_detach(t);
    }
    pthread_exit(NULL);
}
