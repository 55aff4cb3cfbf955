//@ verdict: race
// entries: own passed
// A client passes a variable of the program that it can name.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;

struct item {
    int id;
    int x;
};

struct item shared;

void own(void)
{
    pthread_mutex_lock(&a);
    shared.x++;  // RACE#1: shared.x
    pthread_mutex_unlock(&a);
}

void passed(struct item *s)
{
    pthread_mutex_lock(&b);
    s->x++;  // RACE#1: s->x
    pthread_mutex_unlock(&b);
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
