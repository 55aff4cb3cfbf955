//@ verdict: safe
//@ threads: any
// Only the thread that finds 0 by its exchange may write x; the others wait longer each time.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int taken;
static unsigned x;

static void acquire(void)
{
    unsigned delay = 1;
    while (atomic_exchange(&taken, 1)) {
        for (volatile unsigned i = 0; i < delay; i++)
            ;
        if (delay < 4)
            delay *= 2;
    }
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
