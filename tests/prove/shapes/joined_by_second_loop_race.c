//@ verdict: race
//@ threads: any
// The second loop stops before it has joined the first thread.
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
    unsigned created = 0;
    pthread_t *ids = malloc(n * sizeof *ids);
    if (!ids)
        return 1;
    while (created < n && pthread_create(&ids[created], NULL, thread, NULL) == 0)
        created++;
    unsigned left = created;
    while (left > 1)
        pthread_join(ids[--left], NULL);
    return x == created; // RACE#1: x
}
