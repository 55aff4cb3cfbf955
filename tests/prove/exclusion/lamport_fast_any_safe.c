//@ verdict: safe
//@ threads: any
//@ truth: by hand; in a model of the algorithm all states of three endless threads were enumerated
// Lamport's fast mutex for any number of threads.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

static unsigned n;
static atomic_uint *b, x, y;
static unsigned data;

static void acquire(unsigned me)
{
    while (1) {
        b[me] = 1;
        x = me;
        if (y == 0) {
            y = me;
            if (x == me)
                return;
            b[me] = 0;
            for (unsigned k = 1; k <= n; k++)
                while (b[k])
                    ;
            if (y == me)
                return;
        } else
            b[me] = 0;
        while (y != 0)
            ;
    }
}

static void *thread(void *arg)
{
    unsigned me = (unsigned)(unsigned long)arg;
    acquire(me);
    data++; // NORACE: data
    y = 0;
    b[me] = 0;
    return arg;
}

int main(void)
{
    n = __VERIFIER_nondet_uint() % 1000;
    b = calloc(n + 1, sizeof *b);
    if (!b)
        return 1;
    for (unsigned i = 1; i <= n; i++) {
        pthread_t t;
        pthread_create(&t, NULL, thread, (void *)(unsigned long)i);
    }
    pthread_exit(NULL);
}
