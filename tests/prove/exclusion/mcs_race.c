//@ verdict: race
//@ threads: any
// MCS queue lock whose nodes are never marked as waiting.
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
    me->waiting = 0;
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
        x++; // RACE#1: x
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
