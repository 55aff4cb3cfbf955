// FileSystem: N threads, each gives its inode a free block. A mutex per inode and one per block. Up to N = 13 no two threads meet.
// From Flanagan and Godefroid, "Dynamic Partial-Order Reduction for Model Checking Software" (POPL 2005), after a Frangipani-style
// file system; an example of the 2006 paper (Elmas, Qadeer, Tasiran, MSR-TR-2005-118, section 7).
//@ check: -DN=3 safe executions=1
//@ check: -DN=13 safe executions=1
//@ check: -DN=14 safe optimal=2
//@ bench: -DN=13
//@ paper: one interleaving in the 2006 paper
//@ bench: -DN=16
//@ bench: -DN=20
//@ bench: -DN=26
//@ paper: GenMC 8,192 in 17.7 s, Nidhugg 10.5 s
#include <pthread.h>

#ifndef N
#define N 13
#endif
#define BLOCKS 26
#define INODES 32

static int inode[INODES], busy[BLOCKS];
static pthread_mutex_t inode_lock[INODES], block_lock[BLOCKS];
static int ids[N];

static void *allocate(void *arg)
{
    int i = *(int *)arg % INODES;
    pthread_mutex_lock(&inode_lock[i]);
    if (inode[i] == 0) {
        int b = i * 2 % BLOCKS;
        for (;;) {
            pthread_mutex_lock(&block_lock[b]);
            if (!busy[b]) {
                busy[b] = 1;
                inode[i] = b + 1;
                pthread_mutex_unlock(&block_lock[b]);
                break;
            }
            pthread_mutex_unlock(&block_lock[b]);
            b = (b + 1) % BLOCKS;
        }
    }
    pthread_mutex_unlock(&inode_lock[i]);
    return NULL;
}

int main(void)
{
    pthread_t threads[N];
    for (int i = 0; i < INODES; i++)
        pthread_mutex_init(&inode_lock[i], NULL);
    for (int b = 0; b < BLOCKS; b++)
        pthread_mutex_init(&block_lock[b], NULL);
    for (int i = 0; i < N; i++) {
        ids[i] = i;
        pthread_create(&threads[i], NULL, allocate, &ids[i]);
    }
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
