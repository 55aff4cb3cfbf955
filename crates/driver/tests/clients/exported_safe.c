//@ verdict: safe
// entries: own passed
// A client passes a variable of the program that it can name. Both take the same lock.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;

struct item {
    int id;
    int x;
};

struct item shared;

void own(void)
{
    pthread_mutex_lock(&a);
    shared.x++;  // NORACE: shared.x
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
    passed(&shared);
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
