//@ verdict: race
// entries: own passed
// A client passes a member of a variable that it can name.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;

struct item {
    int id;
    int x;
};

struct {
    long n;
    struct item items[2];
} shared;

void own(void)
{
    pthread_mutex_lock(&a);
    shared.items[1].x++;  // RACE#1: shared.items[1].x
    pthread_mutex_unlock(&a);
}

void passed(int *p)
{
    pthread_mutex_lock(&b);
    (*p)++;  // RACE#1: *p
    pthread_mutex_unlock(&b);
}

#ifdef CLIENT
static void *other(void *p)
{
    passed(&shared.items[1].x);
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
