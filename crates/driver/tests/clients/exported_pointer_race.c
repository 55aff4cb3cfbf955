//@ verdict: race
// entries: through passed
// A client sets a pointer that it can name.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;

int *where;

void through(void)
{
    pthread_mutex_lock(&a);
    (*where)++;  // RACE#1: *where
    pthread_mutex_unlock(&a);
}

void passed(int *p)
{
    pthread_mutex_lock(&b);
    (*p)++;  // RACE#1: *p
    pthread_mutex_unlock(&b);
}

#ifdef CLIENT
static int one;

static void *other(void *p)
{
    passed(&one);
    return p;
}

int main(void)
{
    pthread_t t;
    where = &one;
    pthread_create(&t, 0, other, 0);
    through();
    pthread_join(t, 0);
    return 0;
}
#endif
