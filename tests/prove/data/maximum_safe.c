//@ verdict: safe
//@ threads: any
// The mutex protects the maximum; the values were written before the threads were created.
#include <pthread.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned n, maximum;
static unsigned *values;

static void *worker(void *arg)
{
    for (unsigned i = 0; i < n; i++) {
        pthread_mutex_lock(&m);
        if (values[i] > maximum) // NORACE: maximum; NORACE: values[i]
            maximum = values[i]; // NORACE: maximum; NORACE: values[i]
        pthread_mutex_unlock(&m);
    }
    return arg;
}

int main(void)
{
    n = __VERIFIER_nondet_uint();
    values = malloc(n * sizeof *values);
    if (!values)
        return 1;
    for (unsigned i = 0; i < n; i++)
        values[i] = __VERIFIER_nondet_uint(); // NORACE: values[i]
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, worker, NULL);
    }
}
