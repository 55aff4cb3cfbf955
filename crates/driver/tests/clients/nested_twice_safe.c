//@ verdict: safe
// entries: whole part
// The structure is two levels down, in an array. Both take the same lock.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;

struct leaf {
    long n;
    int x;
};

struct middle {
    struct leaf leaves[3];
};

struct outer {
    int id;
    struct middle middle;
};

void whole(struct outer *o, unsigned i)
{
    pthread_mutex_lock(&a);
    o->middle.leaves[i % 3].x++;  // NORACE: o->middle.leaves[i % 3].x
    pthread_mutex_unlock(&a);
}

void part(struct leaf *l)
{
    pthread_mutex_lock(&a);
    l->x++;  // NORACE: l->x
    pthread_mutex_unlock(&a);
}

#ifdef CLIENT
static struct outer one;

static void *other(void *p)
{
    part(&one.middle.leaves[1]);
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, other, 0);
    whole(&one, 1);
    pthread_join(t, 0);
    return 0;
}
#endif
