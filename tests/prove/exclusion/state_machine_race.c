//@ verdict: race
//@ threads: any
// The consumer calls the buffer empty before it has read it.
#include <pthread.h>
#include <stdatomic.h>

extern int __VERIFIER_nondet_int(void);

enum { EMPTY, FILLING, FULL, DRAINING };
static atomic_int state;
static int buffer;

static void *producer(void *arg)
{
    for (;;) {
        int expected = EMPTY;
        if (atomic_compare_exchange_strong(&state, &expected, FILLING)) {
            buffer = __VERIFIER_nondet_int(); // RACE#1: buffer
            atomic_store(&state, FULL);
        }
    }
    return arg;
}

static void *consumer(void *arg)
{
    for (;;) {
        int expected = FULL;
        if (atomic_compare_exchange_strong(&state, &expected, DRAINING)) {
            atomic_store(&state, EMPTY);
            int item = buffer; // RACE#1: buffer
            (void)item;
        }
    }
    return arg;
}

int main(void)
{
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, producer, NULL);
        pthread_create(&t, NULL, consumer, NULL);
    }
}
