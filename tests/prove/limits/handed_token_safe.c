//@ verdict: safe
//@ threads: 2
//@ thread-modular: no
// Each thread's private count says how far the token has gone; the shared token is only a parity.
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint moves;
static unsigned x;

static void *thread(void *arg)
{
    unsigned mine = arg != NULL;
    for (;;) {
        while (atomic_load(&moves) != mine)
            ;
        x++; // NORACE: x
        atomic_fetch_add(&moves, 1);
        mine += 2;
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
