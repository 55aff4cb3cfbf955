//@ verdict: safe
//@ threads: 2
// Peterson's lock for two threads: want before turn, then wait; seq_cst keeps the stores before the loads.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int want_a, want_b, turn;
static unsigned x;

static void *first(void *arg)
{
    for (;;) {
        want_a = 1;
        turn = 2;
        while (want_b && turn == 2)
            ;
        x++; // NORACE: x
        want_a = 0;
    }
    return arg;
}

static void *second(void *arg)
{
    for (;;) {
        want_b = 1;
        turn = 1;
        while (want_a && turn == 1)
            ;
        x++; // NORACE: x
        want_b = 0;
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
