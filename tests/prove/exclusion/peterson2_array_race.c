//@ verdict: race
//@ threads: 2
// Peterson's lock whose threads give the turn to themselves.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int want[2], turn;
static unsigned x;

static void *thread(void *arg)
{
    int me = arg != NULL;
    int other = 1 - me;
    for (;;) {
        want[me] = 1;
        turn = me;
        while (want[other] && turn == other)
            ;
        x++; // RACE#1: x
        want[me] = 0;
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, (void *)1L);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
