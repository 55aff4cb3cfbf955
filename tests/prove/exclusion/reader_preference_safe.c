//@ verdict: safe
//@ threads: any
// Readers are counted under the mutex; a writer writes under it, and only when there are none.
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
        unsigned copy = data; // NORACE: data
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
        if (readers == 0) // NORACE: readers
            data++; // NORACE: data
        pthread_mutex_unlock(&m);
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
