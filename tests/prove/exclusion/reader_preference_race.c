//@ verdict: race
//@ threads: any
// The writer gives the mutex back before it writes.
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned readers;
static unsigned data;

static void *reader(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&m);
        readers++; // NORACE: readers
        pthread_mutex_unlock(&m);
        unsigned copy = data; // RACE#1: data
        pthread_mutex_lock(&m);
        readers--; // NORACE: readers
        pthread_mutex_unlock(&m);
        (void)copy;
    }
    return arg;
}

static void *writer(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&m);
        int alone = readers == 0; // NORACE: readers
        pthread_mutex_unlock(&m);
        if (alone)
            data++; // RACE#1: data; RACE#2: data
    }
    return arg;
}

int main(void)
{
    unsigned n = __VERIFIER_nondet_uint(); // fewer than 2^32 readers, so their count does not wrap
    for (unsigned i = 0; i < n; i++) {
        pthread_t t;
        pthread_create(&t, NULL, reader, NULL);
        pthread_create(&t, NULL, writer, NULL);
    }
    pthread_exit(NULL);
}
