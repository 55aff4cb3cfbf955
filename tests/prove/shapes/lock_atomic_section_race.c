//@ verdict: race
//@ threads: any
// The word is tested in one atomic section and set in another.
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void __VERIFIER_assume(int condition);

static int taken;
static unsigned x;

static void acquire(void)
{
    __VERIFIER_atomic_begin();
    __VERIFIER_assume(!taken); // NORACE: taken
    __VERIFIER_atomic_end();
    __VERIFIER_atomic_begin();
    taken = 1; // NORACE: taken
    __VERIFIER_atomic_end();
}

static void release(void)
{
    __VERIFIER_atomic_begin();
    taken = 0; // NORACE: taken
    __VERIFIER_atomic_end();
}

static void *thread(void *arg)
{
    for (;;) {
        acquire();
        x++; // RACE#1: x
        release();
    }
    return arg;
}

int main(void)
{
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
}
