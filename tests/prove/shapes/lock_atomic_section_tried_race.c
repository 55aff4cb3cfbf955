//@ verdict: race
//@ threads: any
// The result of the atomic section is not what x depends on.
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

static int taken;
static unsigned x;

static void *thread(void *arg)
{
    for (;;) {
        __VERIFIER_atomic_begin();
        int was = taken; // NORACE: taken
        taken = 1; // NORACE: taken
        __VERIFIER_atomic_end();
        if (was <= 1) {
            x++; // RACE#1: x
            __VERIFIER_atomic_begin();
            taken = 0; // NORACE: taken
            __VERIFIER_atomic_end();
        }
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
