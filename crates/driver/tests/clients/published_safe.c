//@ verdict: safe
// entries: get own passed
// A variable that clients cannot name, but get the address of. Both take the same lock.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;

struct item {
    int id;
    int x;
};

static struct item hidden;

struct item *get(void)
{
    return &hidden;
}

void own(void)
{
    pthread_mutex_lock(&a);
    hidden.x++;  // NORACE: hidden.x
    pthread_mutex_unlock(&a);
}

void passed(struct item *s)
{
    pthread_mutex_lock(&a);
    s->x++;  // NORACE: s->x
    pthread_mutex_unlock(&a);
}

#ifdef CLIENT
static void *other(void *p)
{
    passed(get());
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, other, 0);
    own();
    pthread_join(t, 0);
    return 0;
}
#endif
