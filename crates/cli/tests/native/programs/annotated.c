/* The second write comes after what the reader was told. */
#include <pthread.h>
#include <sched.h>
extern void __raddle_release(void *, unsigned) __attribute__((weak));
extern void __raddle_acquire(void *, unsigned) __attribute__((weak));
static int x, object, go, done;

static void *reader(void *unused)
{
    while (!__atomic_load_n(&go, __ATOMIC_RELAXED))
        sched_yield();
    if (__raddle_acquire)
        __raddle_acquire(&object, 0);
    int seen = x;
    __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
    return seen ? unused : 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, reader, 0);
    x = 1;
    if (__raddle_release)
        __raddle_release(&object, 0);
    x = 2;
    __atomic_store_n(&go, 1, __ATOMIC_RELAXED);
    while (!__atomic_load_n(&done, __ATOMIC_RELAXED))
        sched_yield();
    return pthread_join(t, 0);
}
