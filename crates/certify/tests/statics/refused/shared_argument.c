// One argument for all threads: they read it when the loop is over, and all find the last number.
#include <pthread.h>
#include <semaphore.h>

struct arg {
    int id;
};

static struct arg shared;
static int cells[1000];
static sem_t go;

static void *worker(void *p)
{
    struct arg *a = p;
    sem_wait(&go);
    cells[a->id]++;
    return NULL;
}

int main(int argc, char **argv)
{
    (void)argv;
    sem_init(&go, 0, 0);
    for (int i = 0; i < argc; i++) {
        pthread_t t;
        shared.id = i;
        pthread_create(&t, NULL, worker, &shared);
    }
    for (int i = 0; i < argc; i++)
        sem_post(&go);
    pthread_exit(NULL);
}
