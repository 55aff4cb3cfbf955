//@ verdict: safe
//@ threads: any
// The mutex is taken if a < b, x is touched if a + 1 <= b, which needs a < b unless a + 1 wraps: a is below 100.
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned x;

static void *thread(void *arg)
{
    unsigned a = __VERIFIER_nondet_uint(), b = __VERIFIER_nondet_uint();
    if (a >= 100)
        return arg;
    if (a < b)
        pthread_mutex_lock(&m);
    if (a + 1 <= b)
        x++; // NORACE: x
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
