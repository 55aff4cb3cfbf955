//@ verdict: race
//@ threads: any
// The loop that joins leaves out the first thread.
#include <pthread.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned x;

static void *thread(void *arg)
{
    pthread_mutex_lock(&m);
    x++; // RACE#1: x
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    unsigned n = __VERIFIER_nondet_uint();
    pthread_t *ids = malloc(n * sizeof *ids);
    if (!ids)
        return 1;
    for (unsigned i = 0; i < n; i++)
        pthread_create(&ids[i], NULL, thread, NULL);
    for (unsigned i = 1; i < n; i++)
        pthread_join(ids[i], NULL);
    return x == n; // RACE#1: x
}
