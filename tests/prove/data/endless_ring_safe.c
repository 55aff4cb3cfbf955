//@ verdict: safe
//@ threads: 2
// The semaphores count empty and full places: a place belongs to the producer or to the consumer.
#include <pthread.h>
#include <semaphore.h>

enum { PLACES = 2 };
static sem_t empty, full;
static int ring[PLACES];

static void *producer(void *arg)
{
    for (unsigned place = 0;; place = (place + 1) % PLACES) {
        sem_wait(&empty);
        ring[place] = 1; // NORACE: ring[place]
        sem_post(&full);
    }
    return arg;
}

static void *consumer(void *arg)
{
    int sum = 0;
    for (unsigned place = 0;; place = (place + 1) % PLACES) {
        sem_wait(&full);
        sum ^= ring[place]; // NORACE: ring[place]
        sem_post(&empty);
    }
    return sum ? arg : NULL;
}

int main(void)
{
    pthread_t p, c;
    sem_init(&empty, 0, PLACES);
    sem_init(&full, 0, 0);
    pthread_create(&p, NULL, producer, NULL);
    pthread_create(&c, NULL, consumer, NULL);
    pthread_join(p, NULL);
    pthread_join(c, NULL);
    return 0;
}
