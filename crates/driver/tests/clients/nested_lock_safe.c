//@ verdict: safe
// entries: whole part
// The lock is in the member: both take the same one, by different ways.
#include <pthread.h>

struct inner {
    pthread_mutex_t m;
    int x;
};

struct outer {
    int id;
    struct inner in;
};

void whole(struct outer *o)
{
    pthread_mutex_lock(&o->in.m);
    o->in.x++;  // NORACE: o->in.x
    pthread_mutex_unlock(&o->in.m);
}

void part(struct inner *i)
{
    pthread_mutex_lock(&i->m);
    i->x++;  // NORACE: i->x
    pthread_mutex_unlock(&i->m);
}

#ifdef CLIENT
static struct outer one = {.in = {.m = PTHREAD_MUTEX_INITIALIZER}};

static void *other(void *p)
{
    part(&one.in);
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, other, 0);
    whole(&one);
    pthread_join(t, 0);
    return 0;
}
#endif
