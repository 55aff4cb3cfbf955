//@ verdict: safe
//@ threads: any
// The number of running threads is kept under the mutex; who waits for 0 finds all of them done.
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned running;
static unsigned x;

static void *thread(void *arg)
{
    pthread_mutex_lock(&m);
    x++; // NORACE: x
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
    } while (left > 0);
    return x == n; // NORACE: x
}
