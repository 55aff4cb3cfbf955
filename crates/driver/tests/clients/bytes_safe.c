//@ verdict: safe
// entries: typed bytes
// A pointer to characters points to the bytes of a structure. Both take the same lock.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;

struct item {
    int id;
    int x;
};

void typed(struct item *s)
{
    pthread_mutex_lock(&a);
    s->x = 1;  // NORACE: s->x
    pthread_mutex_unlock(&a);
}

void bytes(unsigned char *p, unsigned n)
{
    pthread_mutex_lock(&a);
    for (unsigned i = 0; i < n; i++) p[i] = 0;  // NORACE: p[i]
    pthread_mutex_unlock(&a);
}

#ifdef CLIENT
static struct item one;

static void *other(void *p)
{
    bytes((unsigned char *)&one, sizeof one);
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
