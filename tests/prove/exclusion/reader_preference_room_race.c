//@ verdict: race
//@ threads: 3
// Every reader leaves the room, not only the last one.
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static sem_t room;
static int readers;
static unsigned data;

static void *reader(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&m);
        if (++readers == 1) // NORACE: readers
            sem_wait(&room);
        pthread_mutex_unlock(&m);
        unsigned copy = data; // RACE#1: data
        pthread_mutex_lock(&m);
        readers--; // NORACE: readers
        sem_post(&room);
        pthread_mutex_unlock(&m);
        (void)copy;
    }
    return arg;
}

static void *writer(void *arg)
{
    for (;;) {
        sem_wait(&room);
        data++; // RACE#1: data
        sem_post(&room);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b, w;
    sem_init(&room, 0, 1);
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_create(&w, NULL, writer, NULL);
    pthread_exit(NULL);
}
