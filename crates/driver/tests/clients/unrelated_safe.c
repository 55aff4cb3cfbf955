//@ verdict: safe
// entries: left right
// Types that do not contain each other are of different memory.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;

struct first {
    int x;
};

struct second {
    long id;
    int x;
};

static struct first hidden;

void left(struct first *f)
{
    pthread_mutex_lock(&a);
    f->x++;  // NORACE: f->x
    hidden.x++;  // NORACE: hidden.x
    pthread_mutex_unlock(&a);
}

void right(struct second *s)
{
    pthread_mutex_lock(&b);
    s->x++;  // NORACE: s->x
    pthread_mutex_unlock(&b);
}

#ifdef CLIENT
static struct first one;
static struct second two;

static void *other(void *p)
{
    right(&two);
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, other, 0);
    left(&one);
    pthread_join(t, 0);
    return 0;
}
#endif
