//@ verdict: race
//@ threads: any
// Main looks at x when one thread may still be running.
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned running;
static unsigned x;

static void *thread(void *arg)
{
    pthread_mutex_lock(&m);
    x++; // RACE#1: x
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m);
    running--; // NORACE: running
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    unsigned n = __VERIFIER_nondet_uint(), left;
    for (unsigned i = 0; i < n; i++) {
        pthread_t t;
        pthread_mutex_lock(&m);
        running++; // NORACE: running
        pthread_mutex_unlock(&m);
        pthread_create(&t, NULL, thread, NULL);
    }
    do {
        pthread_mutex_lock(&m);
        left = running; // NORACE: running
        pthread_mutex_unlock(&m);
    } while (left > 1);
    return x == n; // RACE#1: x
}
