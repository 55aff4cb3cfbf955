//@ verdict: race
//@ threads: any
// CLH queue lock whose nodes are marked as taken only when they are in the queue.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    atomic_int taken;
};

static struct node free_node;
static _Atomic(struct node *) tail = &free_node;
static unsigned x;

static struct node *acquire(struct node *me)
{
    struct node *before = atomic_exchange(&tail, me);
    me->taken = 1;
    while (before->taken)
        ;
    return before;
}

static void *thread(void *arg)
{
    struct node *me = calloc(1, sizeof *me);
    if (!me)
        return arg;
    for (;;) {
        struct node *before = acquire(me);
        x++; // RACE#1: x
        me->taken = 0;
        me = before;
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
