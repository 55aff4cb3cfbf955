//@ verdict: race
//@ threads: any
// Whoever finds an owner in the lock word takes it to be itself.
#include <pthread.h>
#include <stdatomic.h>

static _Atomic(int *) owner;
static unsigned x;

static void *thread(void *arg)
{
    int self, *expected = NULL;
    atomic_compare_exchange_strong(&owner, &expected, &self);
    if (owner != NULL) {
        x++; // RACE#1: x
        owner = NULL;
    }
    return arg;
}

int main(void)
{
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
}
