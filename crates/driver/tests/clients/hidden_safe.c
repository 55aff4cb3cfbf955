//@ verdict: safe
// entries: own passed
// The variable of the type that clients pass is one that they cannot know.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;

struct item {
    int id;
    int x;
};

static struct item hidden;

void own(void)
{
    pthread_mutex_lock(&a);
    hidden.x++;  // NORACE: hidden.x
    pthread_mutex_unlock(&a);
}

void passed(struct item *s)
{
    pthread_mutex_lock(&b);
    s->x++;  // NORACE: s->x
    pthread_mutex_unlock(&b);
}

#ifdef CLIENT
static struct item one;

static void *other(void *p)
{
    passed(&one);
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
