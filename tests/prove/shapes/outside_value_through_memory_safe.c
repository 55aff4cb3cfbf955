//@ verdict: safe
//@ threads: any
// What comes from outside goes through a list under the mutex and decides nothing.
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned history[2];
static unsigned x;

static void *thread(void *arg)
{
    unsigned value = __VERIFIER_nondet_uint();
    pthread_mutex_lock(&m);
    history[1] = history[0]; // NORACE: history[1]; NORACE: history[0]
    history[0] = value; // NORACE: history[0]
    unsigned oldest = history[1]; // NORACE: history[1]
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m);
    x += oldest; // NORACE: x
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
