//@ verdict: safe
//@ threads: any
// Each index is drawn once from the atomic counter, which is too wide to wrap.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

static atomic_size_t next;
static unsigned size;
static int *results;

static size_t draw(void)
{
    return atomic_fetch_add(&next, 1);
}

static void *worker(void *arg)
{
    for (size_t i; (i = draw()) < size;)
        results[i]++; // NORACE: results[i]
    return arg;
}

int main(void)
{
    unsigned n = __VERIFIER_nondet_uint();
    size = __VERIFIER_nondet_uint();
    results = calloc(size, sizeof *results);
    if (!results)
        return 1;
    for (unsigned i = 0; i < n; i++) {
        pthread_t t;
        pthread_create(&t, NULL, worker, NULL);
    }
    pthread_exit(NULL);
}
