//@ verdict: race
//@ threads: any
// Without a bound on a, a + 1 may wrap to 0, and x is touched without the mutex.
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned x;

static void *thread(void *arg)
{
    unsigned a = __VERIFIER_nondet_uint(), b = __VERIFIER_nondet_uint();
    if (a + 1 >= 100)
        return arg;
    if (a < b)
        pthread_mutex_lock(&m);
    if (a + 1 <= b)
        x++; // RACE#1: x
    if (a < b)
        pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
}
