//@ verdict: safe
// entries: through passed
// A client sets a pointer that it can name. Both take the same lock.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;

int *where;

void through(void)
{
    pthread_mutex_lock(&a);
    (*where)++;  // NORACE: *where
    pthread_mutex_unlock(&a);
}

void passed(int *p)
{
    pthread_mutex_lock(&a);
    (*p)++;  // NORACE: *p
    pthread_mutex_unlock(&a);
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
