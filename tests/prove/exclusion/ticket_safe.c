//@ verdict: safe
//@ threads: any
// The tickets of waiting threads differ (there are fewer than 2^32 threads), and one is served at a time.
#include <pthread.h>
#include <stdatomic.h>

extern unsigned __VERIFIER_nondet_uint(void);

static atomic_uint next, serving;
static unsigned x;

static void *thread(void *arg)
{
    for (;;) {
        unsigned mine = atomic_fetch_add(&next, 1);
        while (atomic_load(&serving) != mine)
            ;
        x++; // NORACE: x
        atomic_fetch_add(&serving, 1);
    }
    return arg;
}

int main(void)
{
    unsigned n = __VERIFIER_nondet_uint();
    for (unsigned i = 0; i < n; i++) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
    pthread_exit(NULL);
}
