//@ verdict: safe
//@ threads: any
// The lock word m protects x; it does not say who holds it, so the proof needs the owner as a ghost.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int m;
static unsigned x;

static void acquire(void)
{
    int free = 0;
    while (!atomic_compare_exchange_strong(&m, &free, 1))
        free = 0;
}

static void *thread(void *arg)
{
    for (;;) {
        acquire();
        x++; // NORACE: x
        atomic_store(&m, 0);
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
