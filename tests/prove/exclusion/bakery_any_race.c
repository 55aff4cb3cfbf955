//@ verdict: race
//@ threads: any
// The bakery whose threads do not settle equal numbers by index.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

static unsigned n;
static atomic_uint *choosing, *number;
static unsigned x;

static void acquire(unsigned me)
{
    unsigned highest = 0;
    choosing[me] = 1;
    for (unsigned k = 0; k < n; k++) {
        unsigned seen = number[k];
        if (seen > highest)
            highest = seen;
    }
    number[me] = highest + 1; // at most n: each thread comes once
    choosing[me] = 0;
    for (unsigned k = 0; k < n; k++) {
        while (choosing[k])
            ;
        for (unsigned theirs; k != me && (theirs = number[k]) != 0;)
            if (theirs >= highest + 1)
                break;
    }
}

static void *thread(void *arg)
{
    unsigned me = (unsigned)(unsigned long)arg;
    acquire(me);
    x++; // RACE#1: x
    number[me] = 0;
    return arg;
}

int main(void)
{
    n = __VERIFIER_nondet_uint();
    choosing = calloc(n, sizeof *choosing);
    number = calloc(n, sizeof *number);
    if (!choosing || !number)
        return 1;
    for (unsigned i = 0; i < n; i++) {
        pthread_t t;
        pthread_create(&t, NULL, thread, (void *)(unsigned long)i);
    }
    pthread_exit(NULL);
}
