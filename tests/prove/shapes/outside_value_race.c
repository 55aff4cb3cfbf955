//@ verdict: race
//@ threads: any
// The values from outside are only added up, but one of the sums without the mutex.
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned sum, mixed;

static void *thread(void *arg)
{
    for (;;) {
        unsigned value = __VERIFIER_nondet_uint();
        pthread_mutex_lock(&m);
        sum += value; // NORACE: sum
        unsigned product = sum * 31; // NORACE: sum
        pthread_mutex_unlock(&m);
        mixed ^= product + value; // RACE#1: mixed
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
