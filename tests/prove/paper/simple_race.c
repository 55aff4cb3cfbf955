//@ verdict: race
//@ threads: 2
// The lock word m is given back before x is written.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int m;
static unsigned x;

static void acquire(int id)
{
    int free = 0;
    while (!atomic_compare_exchange_strong(&m, &free, id))
        free = 0;
}

static void release(void)
{
    atomic_store(&m, 0);
}

static void *thread(void *arg)
{
    int id = (int)(long)arg;
    for (;;) {
        acquire(id);
        release();
        x = (unsigned)id; // RACE#1: x
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, thread, (void *)1L);
    pthread_create(&b, NULL, thread, (void *)2L);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
