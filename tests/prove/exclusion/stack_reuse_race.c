//@ verdict: race
//@ threads: any
// Popped nodes are pushed again: next is written while a slower thread still reads it.
#include <pthread.h>
#include <stdatomic.h>

static int next[3]; // 0 is no node
static atomic_int top;

static void push(int node)
{
    int old = atomic_load(&top);
    do
        next[node] = old; // RACE#1: next[old]
    while (!atomic_compare_exchange_strong(&top, &old, node));
}

static int pop(void)
{
    int old = atomic_load(&top);
    while (old != 0 && !atomic_compare_exchange_strong(&top, &old, next[old])) // RACE#1: next[old]
        ;
    return old;
}

static void *thread(void *arg)
{
    for (;;) {
        int node = pop();
        if (node)
            push(node);
    }
    return arg;
}

int main(void)
{
    push(1);
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
}
