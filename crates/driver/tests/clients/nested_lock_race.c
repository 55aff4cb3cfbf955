//@ verdict: race
// entries: whole part
// The lock is in the member, and one of two takes it.
#include <pthread.h>

static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
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
    o->in.x++;  // RACE#1: o->in.x
    pthread_mutex_unlock(&o->in.m);
}

void part(struct inner *i)
{
    pthread_mutex_lock(&b);
    i->x++;  // RACE#1: i->x
    pthread_mutex_unlock(&b);
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
