//@ verdict: race
// entries: typed untyped
// A `void *` is assigned to a pointer of a type.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;

struct item {
    int id;
    int x;
};

void typed(struct item *s)
{
    pthread_mutex_lock(&a);
    s->x++;  // RACE#1: s->x
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
