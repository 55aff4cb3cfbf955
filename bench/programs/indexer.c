// Indexer: N threads insert four words each into a shared hash table, open addressing, a mutex per slot. Up to N = 11 no two words meet;
// from 12 on some do, and their order matters.
// From Flanagan and Godefroid, "Dynamic Partial-Order Reduction for Model Checking Software" (POPL 2005); an example of the 2006 paper
// (Elmas, Qadeer, Tasiran, MSR-TR-2005-118, section 7).
//@ check: -DN=3 safe executions=1
//@ check: -DN=11 safe executions=1
//@ check: -DN=12 safe optimal=8
//@ bench: -DN=11
//@ paper: one interleaving in the 2006 paper
//@ bench: -DN=12
//@ bench: -DN=13
//@ bench: -DN=15
//@ paper: GenMC 4,096 in 9.3 s, Nidhugg 4.1 s
#include <pthread.h>

#ifndef N
#define N 11
#endif
#define SIZE 128
#define WORDS 4

static int table[SIZE];
static pthread_mutex_t slots[SIZE];
static int ids[N];

static int put_if_empty(int slot, int word)
{
    int done = 0;
    pthread_mutex_lock(&slots[slot]);
    if (table[slot] == 0) {
        table[slot] = word;
        done = 1;
    }
    pthread_mutex_unlock(&slots[slot]);
    return done;
}

static void *index_words(void *arg)
{
    int id = *(int *)arg;
    for (int m = 1; m <= WORDS; m++) {
        int word = m * 11 + id;
        int slot = word * 7 % SIZE;
        while (!put_if_empty(slot, word))
            slot = (slot + 1) % SIZE;
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[N];
    for (int i = 0; i < SIZE; i++)
        pthread_mutex_init(&slots[i], NULL);
    for (int i = 0; i < N; i++) {
        ids[i] = i;
        pthread_create(&threads[i], NULL, index_words, &ids[i]);
    }
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
