//@ verdict: unknown
//@ threads: 2
//@ truth: by hand, safe: no cube of a positive number is the sum of two; a prover that can show it may say so
// The thread without the mutex touches x only for a solution of Fermat's equation.
#include <pthread.h>

extern unsigned short __VERIFIER_nondet_ushort(void);

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned x;

static unsigned long cube(unsigned short n)
{
    return (unsigned long)n * n * n;
}

static void *careful(void *arg)
{
    pthread_mutex_lock(&m);
    x++;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *careless(void *arg)
{
    unsigned short a = __VERIFIER_nondet_ushort();
    unsigned short b = __VERIFIER_nondet_ushort();
    unsigned short c = __VERIFIER_nondet_ushort();
    if (a > 0 && b > 0 && cube(a) + cube(b) == cube(c))
        x++;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, careful, NULL);
    pthread_create(&b, NULL, careless, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
