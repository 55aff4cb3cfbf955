#include <pthread.h>
#include <stdio.h>
static int cells[2000];
static int last;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *worker(void *arg)
{
    int *cell = arg;
    *cell = 1;
    pthread_mutex_lock(&lock);
    last = *cell;
    pthread_mutex_unlock(&lock);
    return NULL;
}
int main(void)
{
    int sum = 0;
    for (int round = 0; round < 20; round++) {
        pthread_t threads[100];
        for (int i = 0; i < 100; i++)
            pthread_create(&threads[i], NULL, worker, &cells[round * 100 + i]);
        for (int i = 0; i < 100; i++)
            pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < 2000; i++)
        sum += cells[i];
    printf("%d %d\n", sum, last);
    return 0;
}
