//@ verdict: safe
//@ threads: any
// Two locks made from an exchange; each protects its own variable.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int word[2];
static unsigned x, y;

static void lock(int which)
{
    while (atomic_exchange(&word[which], 1) != 0)
        ;
}

static void unlock(int which)
{
    atomic_store(&word[which], 0);
}

static void *first(void *arg)
{
    for (;;) {
        lock(0);
        x++; // NORACE: x
        unlock(0);
    }
    return arg;
}

static void *second(void *arg)
{
    for (;;) {
        lock(1);
        y++; // NORACE: y
        unlock(1);
    }
    return arg;
}

int main(void)
{
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, first, NULL);
        pthread_create(&t, NULL, second, NULL);
    }
}
