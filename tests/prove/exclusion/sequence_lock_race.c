//@ verdict: race
//@ threads: any
// Sequence lock over a plain value: a reader that will try again has raced already.
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint seq;
static unsigned value;
static unsigned writes;

static void *writer(void *arg)
{
    for (;;) {
        unsigned even = atomic_load(&seq) & ~1u;
        if (!atomic_compare_exchange_strong(&seq, &even, even + 1))
            continue;
        value = value + 1; // RACE#1: value
        writes++; // NORACE: writes
        atomic_store(&seq, even + 2);
    }
    return arg;
}

static void *reader(void *arg)
{
    for (;;) {
        unsigned before;
        unsigned copy;
        do {
            before = atomic_load(&seq);
            copy = value; // RACE#1: value
        } while ((before & 1) || atomic_load(&seq) != before);
        (void)copy;
    }
    return arg;
}

int main(void)
{
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, writer, NULL);
        pthread_create(&t, NULL, reader, NULL);
    }
}
