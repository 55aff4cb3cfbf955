//@ verdict: safe
//@ threads: any
// The lock word holds the address of its owner's stack variable: only the owner finds its own address there.
#include <pthread.h>
#include <stdatomic.h>

static _Atomic(int *) owner;
static unsigned x;

static void *thread(void *arg)
{
    int self, *expected = NULL;
    atomic_compare_exchange_strong(&owner, &expected, &self);
    if (owner == &self) {
        x++; // NORACE: x
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
