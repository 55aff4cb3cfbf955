//@ verdict: race
//@ threads: any
// Hierarchical CLH lock whose local heads do not queue for the global lock.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

struct node {
    atomic_int taken;
};

static struct node free_node[3];
static _Atomic(struct node *) tail[3] = {&free_node[0], &free_node[1], &free_node[2]};
static unsigned x;

static struct node *acquire(unsigned queue, struct node *me)
{
    me->taken = 1;
    struct node *before = atomic_exchange(&tail[queue], me);
    while (before->taken)
        ;
    return before;
}

static void *thread(void *arg)
{
    unsigned cluster = __VERIFIER_nondet_uint() % 2;
    struct node *local = calloc(1, sizeof *local);
    struct node *global = calloc(1, sizeof *global);
    if (!local || !global)
        return arg;
    for (;;) {
        struct node *local_before = acquire(cluster, local);
        x++; // RACE#1: x
        local->taken = 0;
        local = local_before;
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
