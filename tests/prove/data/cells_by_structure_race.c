//@ verdict: race
//@ threads: any
// The index in the structures counts every other thread only.
#include <pthread.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

struct job {
    unsigned index;
    int *cells;
};

static void *worker(void *arg)
{
    struct job *job = arg;
    job->cells[job->index]++; // RACE#1: job->cells[job->index]
    return NULL;
}

int main(void)
{
    unsigned n = __VERIFIER_nondet_uint();
    pthread_t *ids = malloc(n * sizeof *ids);
    struct job *jobs = malloc(n * sizeof *jobs);
    int *cells = calloc(n, sizeof *cells);
    if (!ids || !cells || !jobs)
        return 1;
    for (unsigned i = 0; i < n; i++) {
        jobs[i].index = i & ~1u;
        jobs[i].cells = cells;
        pthread_create(&ids[i], NULL, worker, &jobs[i]);
    }
    for (unsigned i = 0; i < n; i++)
        pthread_join(ids[i], NULL);
    unsigned total = 0;
    for (unsigned i = 0; i < n; i++)
        total += (unsigned)cells[i]; // NORACE: cells[i]
    return total == n;
}
