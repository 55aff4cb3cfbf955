//@ verdict: safe
//@ threads: 2
// The tickets of the two threads differ, and one is served at a time.
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint next, serving;
static unsigned x;

static void *thread(void *arg)
{
    for (;;) {
        unsigned mine = atomic_fetch_add(&next, 1);
        while (atomic_load(&serving) != mine)
            ;
        x++; // NORACE: x
        atomic_fetch_add(&serving, 1);
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
