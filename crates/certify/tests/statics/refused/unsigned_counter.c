// An unsigned counter of 32 bits comes back to 0: unsigned arithmetic wraps around.
#include <pthread.h>

static int cells[16];

static void *worker(void *arg)
{
    cells[(unsigned long)arg]++;
    return NULL;
}

int main(void)
{
    for (unsigned i = 0;; i += 1u << 16) {
        pthread_t t;
        if (pthread_create(&t, NULL, worker, (void *)(unsigned long)i) != 0)
            break;
        pthread_detach(t);
    }
    pthread_exit(NULL);
}
