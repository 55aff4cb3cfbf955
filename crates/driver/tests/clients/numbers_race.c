//@ verdict: race
// entries: second only
// Two clients pass overlapping parts of an array of numbers.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;

void second(int *p)
{
    pthread_mutex_lock(&a);
    p[1]++;  // RACE#1: p[1]
    pthread_mutex_unlock(&a);
}

void only(int *p)
{
    pthread_mutex_lock(&b);
    (*p)++;  // RACE#1: *p
    pthread_mutex_unlock(&b);
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
