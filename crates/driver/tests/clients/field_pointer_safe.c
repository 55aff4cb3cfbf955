//@ verdict: safe
// entries: whole clear
// A client passes a pointer to a member that is a pointer. Both take the same lock.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;

struct node {
    int id;
    struct node *next;
};

void whole(struct node *n)
{
    pthread_mutex_lock(&a);
    n->next = 0;  // NORACE: n->next
    pthread_mutex_unlock(&a);
}

void clear(struct node **p)
{
    pthread_mutex_lock(&a);
    *p = 0;  // NORACE: *p
    pthread_mutex_unlock(&a);
}

#ifdef CLIENT
static struct node one;

static void *other(void *p)
{
    clear(&one.next);
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
