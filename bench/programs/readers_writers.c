// Readers and writers: R threads read and W threads write one variable, each once, under one mutex. (R + W)! orders of the lock, and no
// race in any of them. -DUNLOCKED lets the readers go without it.
// A classic; this form is the one of the table in which GenMC and Nidhugg were measured.
//@ check: -DR=2 -DW=2 safe optimal=24
//@ check: -DR=1 -DW=1 -DUNLOCKED race
//@ bench: -DR=3 -DW=3
//@ bench: -DR=4 -DW=4
//@ paper: GenMC 40,320 in 4.1 s, Nidhugg 4.9 s
//@ bench: -DR=5 -DW=5
//@ paper: both over 60 s
#include <pthread.h>

#ifndef R
#define R 4
#endif
#ifndef W
#define W 4
#endif

static int variable;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *reader(void *arg)
{
    (void)arg;
    int seen;
#ifdef UNLOCKED
    seen = variable;
#else
    pthread_mutex_lock(&lock);
    seen = variable;
    pthread_mutex_unlock(&lock);
#endif
    (void)seen;
    return NULL;
}

static void *writer(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    variable++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[R + W];
    for (int i = 0; i < R + W; i++)
        pthread_create(&threads[i], NULL, i < R ? reader : writer, NULL);
    for (int i = 0; i < R + W; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
