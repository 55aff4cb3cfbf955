// IndependentWork2: main makes N lists (two in the paper), then creates a thread for each that goes through it and changes it. A list is
// handed over by the creation.
// From Dwyer, Hatcliff, Prasad and Robby, "Exploiting Object Escape and Locking Information in Partial Order Reductions" (FMSD 2004); an
// example of the 2006 paper (Elmas, Qadeer, Tasiran, MSR-TR-2005-118, section 7).
//@ check: -DN=2 -DLENGTH=3 safe executions=1
//@ check: -DN=6 -DLENGTH=8 safe executions=1
//@ bench: -DN=6 -DLENGTH=8
//@ paper: one interleaving in the 2006 paper
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

static struct cell *lists[N];

static void *work(void *arg)
{
    for (struct cell *cell = arg; cell; cell = cell->next)
        cell->value += 1;
    return NULL;
}

int main(void)
{
    pthread_t threads[N];
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < LENGTH; k++) {
            struct cell *cell = malloc(sizeof *cell);
            cell->value = k;
            cell->next = lists[i];
            lists[i] = cell;
        }
    }
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, work, lists[i]);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
