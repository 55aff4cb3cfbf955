//@ verdict: race
// entries: whole add
// A client passes a pointer to a member.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;

struct item {
    int id;
    int x;
};

void whole(struct item *s)
{
    pthread_mutex_lock(&a);
    s->x++;  // RACE#1: s->x
    pthread_mutex_unlock(&a);
}

void add(int *p)
{
    pthread_mutex_lock(&b);
    (*p)++;  // RACE#1: *p
    pthread_mutex_unlock(&b);
}

#ifdef CLIENT
static struct item one;

static void *other(void *p)
{
    add(&one.x);
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
