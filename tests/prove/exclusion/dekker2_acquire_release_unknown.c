//@ verdict: unknown
//@ threads: 2
//@ truth: by hand, race: with release and acquire both may read 0 before the other's store arrives
// The heart of Dekker's lock, each enters only if the other is not interested, without seq_cst.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int want[2];
static unsigned x;

static void *thread(void *arg)
{
    int me = arg != NULL;
    for (;;) {
        atomic_store_explicit(&want[me], 1, memory_order_release);
        if (!atomic_load_explicit(&want[1 - me], memory_order_acquire))
            x++;
        atomic_store_explicit(&want[me], 0, memory_order_release);
    }
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
