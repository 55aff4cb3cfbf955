//@ verdict: race
//@ threads: 2
// Lamport's fast mutex without the wait for a thread that is still on the way.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int b[3], x, y;
static unsigned data;

static void acquire(int me)
{
    while (1) {
        b[me] = 1;
        x = me;
        if (y == 0) {
            y = me;
            if (x == me)
                return;
            b[me] = 0;
            if (y == me)
                return;
        } else
            b[me] = 0;
        while (y != 0)
            ;
    }
}

static void *thread(void *arg)
{
    int me = arg ? 2 : 1;
    acquire(me);
    data++; // RACE#1: data
    y = 0;
    b[me] = 0;
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
