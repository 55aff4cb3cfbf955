//@ verdict: safe
//@ threads: any
//@ thread-modular: no
// Only one thread draws 0, but no shared state says which: assumptions over count alone let two threads have it.
#include <pthread.h>
#include <stdatomic.h>

extern unsigned __VERIFIER_nondet_uint(void);

static atomic_uint count;
static int x;

static void *thread(void *arg)
{
    unsigned mine = atomic_fetch_add(&count, 1);
    if (mine == 0)
        x = 1; // NORACE: x
    return arg;
}

int main(void)
{
    unsigned n = __VERIFIER_nondet_uint(); // fewer than 2^32 threads: the count does not wrap
    for (unsigned i = 0; i < n; i++) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
    pthread_exit(NULL);
}
