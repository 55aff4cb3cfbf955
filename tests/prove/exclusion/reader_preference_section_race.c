//@ verdict: race
//@ threads: any
// A reader counts itself without looking for a writer.
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void __VERIFIER_assume(int condition);
extern unsigned __VERIFIER_nondet_uint(void);

static unsigned readers;
static int writing;
static unsigned data;

static void *reader(void *arg)
{
    __VERIFIER_atomic_begin();
    readers++; // NORACE: readers
    __VERIFIER_atomic_end();
    unsigned copy = data; // RACE#1: data
    __VERIFIER_atomic_begin();
    readers--; // NORACE: readers
    __VERIFIER_atomic_end();
    (void)copy;
    return arg;
}

static void *writer(void *arg)
{
    __VERIFIER_atomic_begin();
    __VERIFIER_assume(!writing && readers == 0); // NORACE: writing; NORACE: readers
    writing = 1; // NORACE: writing
    __VERIFIER_atomic_end();
    data++; // RACE#1: data
    __VERIFIER_atomic_begin();
    writing = 0; // NORACE: writing
    __VERIFIER_atomic_end();
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
