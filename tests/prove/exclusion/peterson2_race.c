//@ verdict: race
//@ threads: 2
// Peterson's lock with its two stores the other way round: turn before want.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int want_a, want_b, turn;
static unsigned x;

static void *first(void *arg)
{
    for (;;) {
        turn = 2;
        want_a = 1;
        while (want_b && turn == 2)
            ;
        x++; // RACE#1: x
        want_a = 0;
    }
    return arg;
}

static void *second(void *arg)
{
    for (;;) {
        turn = 1;
        want_b = 1;
        while (want_a && turn == 1)
            ;
        x++; // RACE#1: x
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
