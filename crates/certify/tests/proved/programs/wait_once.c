// The consumer waits once and does not look again.
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int turn;
int data;

void *producer(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&mutex);
        while (turn != 0)
            pthread_cond_wait(&changed, &mutex);
        pthread_mutex_unlock(&mutex);   // INV: (= {m:turn} #x00000000)
        data++;                         // INV: (= {m:turn} #x00000000)
        pthread_mutex_lock(&mutex);     // INV: (= {m:turn} #x00000000)
        turn = 1;                       // INV: (= {m:turn} #x00000000)
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&mutex);
    }
    return arg;
}

void *consumer(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&mutex);
        if (turn != 1)
            pthread_cond_wait(&changed, &mutex);
        pthread_mutex_unlock(&mutex);   // INV: (= {m:turn} #x00000001)
        data--;                         // INV: (= {m:turn} #x00000001)
        pthread_mutex_lock(&mutex);     // INV: (= {m:turn} #x00000001)
        turn = 0;                       // INV: (= {m:turn} #x00000001)
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&mutex);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, producer, 0);
    pthread_create(&b, 0, consumer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
