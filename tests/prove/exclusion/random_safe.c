//@ verdict: safe
//@ threads: any
// The seed is touched in atomic functions only; who replaces the seed it has read may count the draw.
#include <pthread.h>

static unsigned seed = 1;

static unsigned __VERIFIER_atomic_read(void)
{
    return seed; // NORACE: seed
}

static int __VERIFIER_atomic_cas(unsigned old, unsigned new)
{
    if (seed != old) // NORACE: seed
        return 0;
    seed = new; // NORACE: seed
    return 1;
}

static unsigned draw(void)
{
    unsigned old, new;
    do {
        old = __VERIFIER_atomic_read();
        new = old * 1103515245u + 12345u;
    } while (!__VERIFIER_atomic_cas(old, new));
    return new;
}

static void *thread(void *arg)
{
    for (;;)
        draw();
    return arg;
}

int main(void)
{
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
}
