//@ verdict: race
//@ threads: any
// A ticket is drawn in two steps, so two threads may hold the same one.
#include <pthread.h>
#include <stdatomic.h>

extern unsigned __VERIFIER_nondet_uint(void);

static atomic_uint next, serving;
static unsigned x;

static void *thread(void *arg)
{
    for (;;) {
        unsigned mine = atomic_load(&next);
        atomic_store(&next, mine + 1);
        while (atomic_load(&serving) != mine)
            ;
        x++; // RACE#1: x
        atomic_fetch_add(&serving, 1);
    }
    return arg;
}

int main(void)
{
    unsigned n = __VERIFIER_nondet_uint();
    for (unsigned i = 0; i < n; i++) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
    pthread_exit(NULL);
}
