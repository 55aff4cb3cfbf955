//@ verdict: race
//@ threads: any
// Only the way to the list is under the bucket's lock, its nodes are touched after giving it back.
#include <pthread.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

enum { BUCKETS = 8 };
struct node {
    struct node *next;
    unsigned value;
};

static pthread_mutex_t lock[BUCKETS];
static struct node *slot[BUCKETS];

static void insert(unsigned key)
{
    struct node *node = malloc(sizeof *node);
    if (!node)
        return;
    node->value = key; // NORACE: node->value
    pthread_mutex_lock(&lock[key % BUCKETS]);
    node->next = slot[key % BUCKETS]; // NORACE: slot[...]; NORACE: node->next
    slot[key % BUCKETS] = node; // NORACE: slot[...]
    pthread_mutex_unlock(&lock[key % BUCKETS]);
}

static void touch(unsigned bucket)
{
    pthread_mutex_lock(&lock[bucket]);
    struct node *first = slot[bucket]; // NORACE: slot[bucket]
    pthread_mutex_unlock(&lock[bucket]);
    for (struct node *node = first; node; node = node->next) // NORACE: node->next
        node->value++; // RACE#1: node->value
}

static void *thread(void *arg)
{
    for (;;) {
        insert(__VERIFIER_nondet_uint());
        touch(__VERIFIER_nondet_uint() % BUCKETS);
    }
    return arg;
}

int main(void)
{
    for (int i = 0; i < BUCKETS; i++)
        pthread_mutex_init(&lock[i], NULL);
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
}
