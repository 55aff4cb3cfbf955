//@ verdict: race
// entries: create own passed
// A client passes what the program made for it, and keeps.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;

struct item {
    int id;
    int x;
};

static struct item *last;

struct item *create(void)
{
    struct item *s = calloc(1, sizeof *s);
    pthread_mutex_lock(&a);
    last = s;
    pthread_mutex_unlock(&a);
    return s;
}

void own(void)
{
    pthread_mutex_lock(&a);
    if (last) last->x++;  // RACE#1: last->x
    pthread_mutex_unlock(&a);
}

void passed(struct item *s)
{
    pthread_mutex_lock(&b);
    s->x++;  // RACE#1: s->x
    pthread_mutex_unlock(&b);
}

#ifdef CLIENT
static struct item *one;

static void *other(void *p)
{
    passed(one);
    return p;
}

int main(void)
{
    pthread_t t;
    one = create();
    pthread_create(&t, 0, other, 0);
    own();
    pthread_join(t, 0);
    return 0;
}
#endif
