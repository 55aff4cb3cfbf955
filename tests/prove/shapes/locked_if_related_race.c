//@ verdict: race
//@ threads: any
// x is touched if n is at least 3, the mutex is taken if it is above 3.
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned x;

static void *thread(void *arg)
{
    int n = __VERIFIER_nondet_int();
    if (n > 3)
        pthread_mutex_lock(&m);
    int copy = n;
    if (copy >= 3)
        x++; // RACE#1: x
    if (n > 3)
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
