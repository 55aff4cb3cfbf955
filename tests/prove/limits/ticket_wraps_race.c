//@ verdict: race
//@ threads: any
// The tickets count to 4: the fifth thread holds the same one as the first.
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint next, serving;
static unsigned x;

static void *thread(void *arg)
{
    unsigned mine = atomic_fetch_add(&next, 1) % 4;
    while (atomic_load(&serving) % 4 != mine)
        ;
    x++; // RACE#1: x
    atomic_fetch_add(&serving, 1);
    return arg;
}

int main(void)
{
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
}
