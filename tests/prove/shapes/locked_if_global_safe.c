//@ verdict: safe
//@ threads: any
// Whether locking is on is set before the threads are created; x is touched only if it is on.
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int mode;
static unsigned x;

static void *thread(void *arg)
{
    for (;;) {
        if (mode == 1) // NORACE: mode
            pthread_mutex_lock(&m);
        if (mode == 1) // NORACE: mode
            x++; // NORACE: x
        if (mode == 1) // NORACE: mode
            pthread_mutex_unlock(&m);
    }
    return arg;
}

int main(void)
{
    mode = __VERIFIER_nondet_int(); // NORACE: mode
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
}
