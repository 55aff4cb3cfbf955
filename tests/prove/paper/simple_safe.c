//@ verdict: safe
//@ threads: 2
// The lock word m holds the number of the thread that may write x, 0 when it is free (Example 1).
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
        x = (unsigned)id; // NORACE: x
        release();
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
