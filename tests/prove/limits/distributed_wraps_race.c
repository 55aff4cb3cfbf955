//@ verdict: race
//@ threads: any
//@ truth: by hand; with the counter taken modulo 4, three cells and three threads the race was replayed
// The counter of drawn indices is a byte: with 255 cells it wraps, and a third thread draws 0 again.
#include <pthread.h>
#include <stdatomic.h>

extern unsigned char __VERIFIER_nondet_uchar(void);

static atomic_uchar next;
static unsigned char size;
static unsigned results[256];

static void *worker(void *arg)
{
    for (unsigned char i; (i = atomic_fetch_add(&next, 1)) < size;)
        results[i]++; // RACE#1: results[i]
    return arg;
}

int main(void)
{
    size = __VERIFIER_nondet_uchar();
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, worker, NULL);
    }
}
