/* Many events: threads that lock, allocate and write until they are stopped, or so many times. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int *last;
static long rounds;
static void *work(void *arg)
{
    for (long i = 0; rounds == 0 || i < rounds; i++) {
        int *mine = malloc(sizeof *mine);
        *mine = (int)i;
        pthread_mutex_lock(&mutex);
        int *old = last;
        last = mine;
        pthread_mutex_unlock(&mutex);
        free(old);
    }
    return arg;
}
int main(int argc, char **argv)
{
    rounds = argc > 1 ? atol(argv[1]) : 0;
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    puts("finished");
    return 4;
}
