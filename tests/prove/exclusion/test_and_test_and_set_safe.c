//@ verdict: safe
//@ threads: any
// The exchange decides who may write x; the load before it only saves work.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int taken;
static unsigned x;

static void acquire(void)
{
    do {
        while (atomic_load(&taken))
            ;
    } while (atomic_exchange(&taken, 1));
}

static void *thread(void *arg)
{
    for (;;) {
        acquire();
        x++; // NORACE: x
        atomic_store(&taken, 0);
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
