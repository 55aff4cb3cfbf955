//@ verdict: race
//@ threads: any
// The compare-and-swap of the lock also succeeds when the lock is taken.
#include <pthread.h>
#include <stdatomic.h>

struct account {
    atomic_int lock;
    unsigned balance;
};

static struct account account;

static void lock(atomic_int *word)
{
    int expected = 0;
    while (!atomic_compare_exchange_weak(word, &expected, 1))
        ;
}

static void unlock(atomic_int *word)
{
    atomic_store(word, 0);
}

static void *thread(void *arg)
{
    for (;;) {
        lock(&account.lock);
        account.balance++; // RACE#1: account.balance
        unlock(&account.lock);
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
