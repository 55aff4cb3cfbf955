//@ verdict: safe
//@ threads: any
// An atomic section that may fail; its result is tested before x is touched.
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
        if (was == 0) {
            x++; // NORACE: x
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
