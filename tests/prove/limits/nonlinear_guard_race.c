//@ verdict: race
//@ threads: 2
// The thread without the mutex touches x for right-angled triangles, such as 3, 4, 5.
#include <pthread.h>

extern unsigned short __VERIFIER_nondet_ushort(void);

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned x;

static unsigned long square(unsigned short n)
{
    return (unsigned long)n * n;
}

static void *careful(void *arg)
{
    pthread_mutex_lock(&m);
    x++; // RACE#1: x
    pthread_mutex_unlock(&m);
    return arg;
}

static void *careless(void *arg)
{
    unsigned short a = __VERIFIER_nondet_ushort();
    unsigned short b = __VERIFIER_nondet_ushort();
    unsigned short c = __VERIFIER_nondet_ushort();
    if (a > 0 && b > 0 && square(a) + square(b) == square(c))
        x++; // RACE#1: x
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
