//@ verdict: race
//@ threads: any
// A thread whose distance is one takes the lock for free.
#include <pthread.h>
#include <stdatomic.h>

extern unsigned __VERIFIER_nondet_uint(void);

static atomic_uint next, serving;
static unsigned x;

static void acquire(void)
{
    unsigned mine = atomic_fetch_add(&next, 1);
    while (1) {
        unsigned distance = mine - atomic_load(&serving);
        if (distance <= 1)
            return;
        for (volatile unsigned i = 0; i < distance; i++)
            ;
    }
}

static void *thread(void *arg)
{
    acquire();
    x++; // RACE#1: x
    atomic_fetch_add(&serving, 1);
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
