//@ verdict: race
//@ threads: any
// A counter of owners in two bits says that there are none when there are four.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned readers;
static unsigned data;

static void *reader(void *arg)
{
    pthread_mutex_lock(&m);
    readers = (readers + 1) % 4; // NORACE: readers
    pthread_mutex_unlock(&m);
    unsigned copy = data; // RACE#1: data
    pthread_mutex_lock(&m);
    readers = (readers + 3) % 4; // NORACE: readers
    pthread_mutex_unlock(&m);
    return copy ? arg : NULL;
}

static void *writer(void *arg)
{
    pthread_mutex_lock(&m);
    if (readers == 0) // NORACE: readers
        data++; // RACE#1: data
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, reader, NULL);
        pthread_create(&t, NULL, writer, NULL);
    }
}
