//@ verdict: unknown
//@ threads: 2
//@ truth: by hand, race: with release and acquire both may read 0 before the other's store arrives
// Peterson's lock with release stores and acquire loads excludes on a sequentially consistent machine only.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int want[2], turn;
static unsigned x;

static void *thread(void *arg)
{
    int me = arg != NULL;
    int other = 1 - me;
    for (;;) {
        atomic_store_explicit(&want[me], 1, memory_order_release);
        atomic_store_explicit(&turn, other, memory_order_release);
        while (atomic_load_explicit(&want[other], memory_order_acquire)
               && atomic_load_explicit(&turn, memory_order_acquire) == other)
            ;
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
