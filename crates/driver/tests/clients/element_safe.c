//@ verdict: safe
// entries: second only
// A client passes a pointer to an element of what another one passes as an array. Both take the same lock.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;

struct item {
    int id;
    int x;
};

void second(struct item *s)
{
    pthread_mutex_lock(&a);
    s[1].x++;  // NORACE: s[1].x
    pthread_mutex_unlock(&a);
}

void only(struct item *s)
{
    pthread_mutex_lock(&a);
    s->x++;  // NORACE: s->x
    pthread_mutex_unlock(&a);
}

#ifdef CLIENT
static struct item two[2];

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
