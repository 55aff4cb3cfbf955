//@ verdict: race
//@ threads: any
// The flag is cleared before the last write of x.
#include <pthread.h>
#include <stdatomic.h>

static atomic_flag taken = ATOMIC_FLAG_INIT;
static unsigned x;

static void *thread(void *arg)
{
    for (;;) {
        while (atomic_flag_test_and_set(&taken))
            ;
        atomic_flag_clear(&taken);
        x++; // RACE#1: x
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
