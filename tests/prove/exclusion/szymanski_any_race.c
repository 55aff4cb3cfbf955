//@ verdict: race
//@ threads: any
// Szymanski's lock for any number of threads, whose door does not wait for those in the waiting room.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

static unsigned n;
static atomic_int *flag;
static unsigned x;

static int some(unsigned from, unsigned to, int low, int high)
{
    for (unsigned k = from; k < to; k++) {
        int seen = flag[k];
        if (low <= seen && seen <= high)
            return 1;
    }
    return 0;
}

static void *thread(void *arg)
{
    unsigned me = (unsigned)(unsigned long)arg;
    flag[me] = 1;
    flag[me] = 3;
    if (some(0, n, 1, 1)) {
        flag[me] = 2;
        while (!some(0, n, 4, 4))
            ;
    }
    flag[me] = 4;
    while (some(0, me, 3, 4))
        ;
    x++; // RACE#1: x
    while (some(me + 1, n, 2, 3))
        ;
    flag[me] = 0;
    return arg;
}

int main(void)
{
    n = __VERIFIER_nondet_uint();
    flag = calloc(n, sizeof *flag);
    if (!flag)
        return 1;
    for (unsigned i = 0; i < n; i++) {
        pthread_t t;
        pthread_create(&t, NULL, thread, (void *)(unsigned long)i);
    }
    pthread_exit(NULL);
}
