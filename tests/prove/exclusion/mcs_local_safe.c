//@ verdict: safe
//@ threads: any
// MCS queue lock whose nodes live on the stacks of the waiting threads; with a pause between two looks.
#include <pthread.h>
#include <stdatomic.h>

struct node {
    _Atomic(struct node *) next;
    atomic_int waiting;
};

static _Atomic(struct node *) tail;
static unsigned x;

static void locked_increment(void)
{
    struct node me, *before, *after, *expected = &me;
    atomic_init(&me.next, NULL);
    atomic_init(&me.waiting, 1);
    before = atomic_exchange(&tail, &me);
    if (before) {
        before->next = &me;
        while (me.waiting)
            for (volatile int pause = 0; pause < 3; pause++)
                ;
    }
    x++; // NORACE: x
    if (!me.next && atomic_compare_exchange_strong(&tail, &expected, NULL))
        return;
    while (!(after = me.next))
        ;
    after->waiting = 0;
}

static void *thread(void *arg)
{
    for (;;)
        locked_increment();
    return arg;
}

int main(void)
{
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
}
