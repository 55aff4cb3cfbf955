//@ verdict: safe
// entries: typed untyped
// A `void *` is assigned to a pointer of a type. Both take the same lock.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;

struct item {
    int id;
    int x;
};

void typed(struct item *s)
{
    pthread_mutex_lock(&a);
    s->x++;  // NORACE: s->x
    pthread_mutex_unlock(&a);
}

void untyped(void *p)
{
    struct item *s = p;
    pthread_mutex_lock(&a);
    s->x++;  // NORACE: s->x
    pthread_mutex_unlock(&a);
}

#ifdef CLIENT
static struct item one;

static void *other(void *p)
{
    untyped(&one);
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
