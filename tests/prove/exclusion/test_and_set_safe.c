//@ verdict: safe
//@ threads: any
// Only the thread that finds the flag clear may write x.
#include <pthread.h>
#include <stdatomic.h>

static atomic_flag taken = ATOMIC_FLAG_INIT;
static unsigned x;

static void *thread(void *arg)
{
    for (;;) {
        while (atomic_flag_test_and_set(&taken))
            ;
        x++; // NORACE: x
        atomic_flag_clear(&taken);
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
