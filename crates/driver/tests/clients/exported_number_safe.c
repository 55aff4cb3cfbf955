//@ verdict: safe
// entries: first second
// A client sets a number that it can name, before it calls. Both take the same lock.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;

int enabled;
static int x;

void first(void)
{
    pthread_mutex_lock(&a);
    if (enabled)
        x++;  // NORACE: x
    pthread_mutex_unlock(&a);
}

void second(void)
{
    pthread_mutex_lock(&a);
    x++;  // NORACE: x
    pthread_mutex_unlock(&a);
}

#ifdef CLIENT
static void *other(void *p)
{
    second();
    return p;
}

int main(void)
{
    pthread_t t;
    enabled = 1;
    pthread_create(&t, 0, other, 0);
    first();
    pthread_join(t, 0);
    return 0;
}
#endif
