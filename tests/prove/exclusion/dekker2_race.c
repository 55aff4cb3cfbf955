//@ verdict: race
//@ threads: 2
// Dekker's lock whose second thread enters when its turn comes, without looking at the other again.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int want_a, want_b, turn;
static unsigned x;

static void *first(void *arg)
{
    for (;;) {
        want_a = 1;
        while (want_b)
            if (turn != 0) {
                want_a = 0;
                while (turn != 0)
                    ;
                want_a = 1;
            }
        x++; // RACE#1: x
        turn = 1;
        want_a = 0;
    }
    return arg;
}

static void *second(void *arg)
{
    for (;;) {
        want_b = 1;
        if (want_a)
            if (turn != 1) {
                want_b = 0;
                while (turn != 1)
                    ;
                want_b = 1;
            }
        x++; // RACE#1: x
        turn = 0;
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
