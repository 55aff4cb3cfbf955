//@ verdict: safe
//@ threads: any
// MCS queue lock: a thread waits on its own node until the one before it hands the lock over.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    _Atomic(struct node *) next;
    atomic_int waiting;
};

static _Atomic(struct node *) tail;
static unsigned x;

static void acquire(struct node *me)
{
    me->next = NULL;
    me->waiting = 1;
    struct node *before = atomic_exchange(&tail, me);
    if (before) {
        before->next = me;
        while (me->waiting)
            ;
    }
}

static void release(struct node *me)
{
    struct node *expected = me;
    if (!me->next && atomic_compare_exchange_strong(&tail, &expected, NULL))
        return;
    struct node *after;
    while (!(after = me->next))
        ;
    after->waiting = 0;
}

static void *thread(void *arg)
{
    struct node *me = calloc(1, sizeof *me);
    if (!me)
        return arg;
    for (;;) {
        acquire(me);
        x++; // NORACE: x
        release(me);
    }
    return arg;
}

int main(void)
{
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
}
