//@ verdict: safe
//@ threads: any
// Writers exclude each other by making seq odd; the values are atomic, so readers may read and try again.
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint seq;
static atomic_uint value;
static unsigned writes;

static void *writer(void *arg)
{
    for (;;) {
        unsigned even = atomic_load(&seq) & ~1u;
        if (!atomic_compare_exchange_strong(&seq, &even, even + 1))
            continue;
        value = value + 1; // NORACE: value
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
            copy = value; // NORACE: value
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
