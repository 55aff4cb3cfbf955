//@ verdict: race
//@ threads: any
// The value of a node is written after the exchange that publishes it.
#include <pthread.h>
#include <stdatomic.h>

enum { NODES = 4 };
struct node {
    int next;
    int value;
};

static struct node nodes[NODES + 1]; // 0 is no node
static atomic_int top;
static atomic_uint used;

static void push(int value)
{
    unsigned mine = atomic_load(&used);
    do {
        if (mine >= NODES)
            return;
    } while (!atomic_compare_exchange_strong(&used, &mine, mine + 1));
    struct node *node = &nodes[mine + 1];
    int old = atomic_load(&top);
    do
        node->next = old; // NORACE: node->next
    while (!atomic_compare_exchange_strong(&top, &old, (int)mine + 1));
    node->value = value; // RACE#1: nodes[...].value
}

static int pop(void)
{
    int old = atomic_load(&top);
    while (old != 0 && !atomic_compare_exchange_strong(&top, &old, nodes[old].next)) // NORACE: nodes[old].next
        ;
    return old ? nodes[old].value : -1; // RACE#1: nodes[...].value
}

static void *thread(void *arg)
{
    push(1);
    pop();
    return arg;
}

int main(void)
{
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
}
