//@ verdict: safe
// entries: second only
// Two clients pass overlapping parts of an array of numbers. Both take the same lock.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;

void second(int *p)
{
    pthread_mutex_lock(&a);
    p[1]++;  // NORACE: p[1]
    pthread_mutex_unlock(&a);
}

void only(int *p)
{
    pthread_mutex_lock(&a);
    (*p)++;  // NORACE: *p
    pthread_mutex_unlock(&a);
}

#ifdef CLIENT
static int two[2];

static void *other(void *p)
{
    only(&two[1]);
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, other, 0);
    second(two);
    pthread_join(t, 0);
    return 0;
}
#endif
