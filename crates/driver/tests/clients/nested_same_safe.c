//@ verdict: safe
// entries: both
// One function gets both, from two clients. Both take the same lock.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;

struct inner {
    int x;
};

struct outer {
    int id;
    struct inner in;
};

static void whole(struct outer *o)
{
    pthread_mutex_lock(&a);
    o->in.x++;  // NORACE: o->in.x
    pthread_mutex_unlock(&a);
}

static void part(struct inner *i)
{
    pthread_mutex_lock(&a);
    i->x++;  // NORACE: i->x
    pthread_mutex_unlock(&a);
}

void both(struct outer *o, struct inner *i)
{
    if (o)
        whole(o);
    if (i)
        part(i);
}

#ifdef CLIENT
static struct outer one;

static void *other(void *p)
{
    both(0, &one.in);
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, other, 0);
    both(&one, 0);
    pthread_join(t, 0);
    return 0;
}
#endif
