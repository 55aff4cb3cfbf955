/* Memory that is handed out again is new memory. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static void *worker(void *arg)
{
    long sum = 0;
    for (int i = 0; i < 2000; i++) {
        long *block = malloc(64);
        for (int j = 0; j < 8; j++)
            block[j] = j;
        sum += block[i % 8];
        free(block);
    }
    return (void *)(sum + (arg != NULL));
}
int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    puts("ok");
    return 0;
}
