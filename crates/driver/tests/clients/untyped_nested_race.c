//@ verdict: race
// entries: typed untyped
// A `void *` points to a member of a structure that another client passes.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;

struct item {
    int id;
    int x;
};

struct outer {
    long n;
    struct item item;
};

void typed(struct outer *o)
{
    pthread_mutex_lock(&a);
    o->item.x++;  // RACE#1: o->item.x
    pthread_mutex_unlock(&a);
}

void untyped(void *p)
{
    struct item *s = p;
    pthread_mutex_lock(&b);
    s->x++;  // RACE#1: s->x
    pthread_mutex_unlock(&b);
}

#ifdef CLIENT
static struct outer one;

static void *other(void *p)
{
    untyped(&one.item);
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, other, 0);
    typed(&one);
    pthread_join(t, 0);
    return 0;
}
#endif
