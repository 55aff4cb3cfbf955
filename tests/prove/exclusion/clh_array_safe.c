//@ verdict: safe
//@ threads: 2
// CLH queue lock over node numbers: three nodes for two threads, each thread owns one.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int taken[3];
static atomic_int tail = 2;
static unsigned x;

static void *thread(void *arg)
{
    int me = arg != NULL;
    for (;;) {
        taken[me] = 1;
        int before = atomic_exchange(&tail, me);
        while (taken[before])
            ;
        x++; // NORACE: x
        taken[me] = 0;
        me = before;
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
