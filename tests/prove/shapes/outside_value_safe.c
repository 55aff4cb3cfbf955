//@ verdict: safe
//@ threads: any
// The mutex protects the sums; the values from outside are only added up.
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
        mixed ^= sum * 31 + value; // NORACE: mixed; NORACE: sum
        pthread_mutex_unlock(&m);
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
