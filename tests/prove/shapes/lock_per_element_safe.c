//@ verdict: safe
//@ threads: any
// Each element has its own lock, taken at the index that is used afterwards.
#include <pthread.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

struct entry {
    pthread_mutex_t lock;
    unsigned hits;
};

static unsigned n;
static struct entry *table;

static void *thread(void *arg)
{
    for (;;) {
        unsigned i = __VERIFIER_nondet_uint();
        if (i >= n) // NORACE: n
            continue;
        struct entry *entry = &table[i];
        pthread_mutex_lock(&entry->lock);
        table[i].hits++; // NORACE: table[i].hits
        pthread_mutex_unlock(&entry->lock);
    }
    return arg;
}

int main(void)
{
    n = __VERIFIER_nondet_uint(); // NORACE: n
    table = calloc(n, sizeof *table);
    if (!table)
        return 1;
    for (unsigned i = 0; i < n; i++)
        pthread_mutex_init(&table[i].lock, NULL);
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
}
