// `qsort` moves pointers: afterwards the first element may be either block.
#include <pthread.h>
#include <stdlib.h>

static int one, two;
static int *table[2];

static int compare(const void *a, const void *b)
{
    (void)a;
    (void)b;
    return 1;
}

static void *worker(void *arg)
{
    (void)arg;
    two++;
    return NULL;
}

int main(void)
{
    pthread_t t;
    table[0] = &one;
    table[1] = &two;
    qsort(table, 2, sizeof table[0], compare);
    pthread_create(&t, NULL, worker, NULL);
    (*table[0])++;
    pthread_join(t, NULL);
    return 0;
}
