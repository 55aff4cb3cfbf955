//@ verdict: race
//@ threads: any
// x is touched if locking is on or the mode is 2.
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
        if (mode == 1 || mode == 2) // NORACE: mode
            x++; // RACE#1: x
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
