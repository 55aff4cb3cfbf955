//@ verdict: safe
//@ threads: any
// Each thread works in a structure of its own, on a counter and a small buffer.
#include <pthread.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

struct work {
    int counter;
    char buffer[4];
};

static void *worker(void *arg)
{
    struct work *mine = arg;
    for (int i = 0; i < 4; i++)
        mine->buffer[i] = 1; // NORACE: mine->buffer[i]
    mine->counter = 4; // NORACE: mine->counter
    return NULL;
}

int main(void)
{
    unsigned n = __VERIFIER_nondet_uint();
    pthread_t *ids = malloc(n * sizeof *ids);
    struct work *works = calloc(n, sizeof *works);
    if (!ids || !works)
        return 1;
    for (unsigned i = 0; i < n; i++)
        pthread_create(&ids[i], NULL, worker, &works[i]);
    for (unsigned i = 0; i < n; i++)
        pthread_join(ids[i], NULL);
    unsigned total = 0;
    for (unsigned i = 0; i < n; i++)
        total += (unsigned)works[i].counter; // NORACE: works[i].counter
    return total == n;
}
