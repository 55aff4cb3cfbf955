// IndependentWork1: N threads (two in the paper); each makes a list of LENGTH cells and goes through it. Nothing is shared.
// From Dwyer, Hatcliff, Prasad and Robby, "Exploiting Object Escape and Locking Information in Partial Order Reductions" (FMSD 2004); an
// example of the 2006 paper (Elmas, Qadeer, Tasiran, MSR-TR-2005-118, section 7).
//@ check: -DN=2 -DLENGTH=3 safe executions=1
//@ check: -DN=6 -DLENGTH=8 safe executions=1
//@ bench: -DN=6 -DLENGTH=8
//@ paper: one interleaving in the 2006 paper
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#ifndef N
#define N 2
#endif
#ifndef LENGTH
#define LENGTH 5
#endif

struct cell {
    int value;
    struct cell *next;
};

static void *work(void *arg)
{
    (void)arg;
    struct cell *list = NULL;
    for (int i = 0; i < LENGTH; i++) {
        struct cell *cell = malloc(sizeof *cell);
        cell->value = i;
        cell->next = list;
        list = cell;
    }
    int sum = 0;
    for (struct cell *cell = list; cell; cell = cell->next)
        sum += cell->value;
    assert(sum == LENGTH * (LENGTH - 1) / 2);
    return NULL;
}

int main(void)
{
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
