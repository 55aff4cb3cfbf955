// Three threads and atomic counters: 30 visible operations in each run, memory allocated and printed in each.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int x, y;

static void *worker(void *arg)
{
    int *own = malloc(sizeof *own);
    *own = 0;
    for (int i = 0; i < 3; i++) {
        *own += atomic_fetch_add(&x, 1);
        atomic_store(&y, *own);
    }
    free(own);
    return arg;
}

int main(void)
{
    pthread_t t, u;
    pthread_create(&t, NULL, worker, NULL);
    pthread_create(&u, NULL, worker, NULL);
    worker(NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    printf("%d %d\n", x, y);
    return 0;
}
