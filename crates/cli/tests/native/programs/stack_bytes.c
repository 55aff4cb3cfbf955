/* Bytes of one granule of a thread's stack are written in different epochs; the next thread gets the same stack. */
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;
static void add(const char *text)
{
    pthread_mutex_lock(&lock);
    total += text[0];
    pthread_mutex_unlock(&lock);
}
/* Nobody knows what it does with the text. */
static void (*volatile call)(const char *) = add;
static void *work(void *arg)
{
    char text[64];
    for (int i = 0; i < 64; i++) {
        text[i] = (char)(long)arg;
        call(text);
    }
    return NULL;
}
int main(void)
{
    for (long i = 1; i <= 20; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, (void *)i);
        pthread_join(thread, NULL);
    }
    printf("total %ld\n", total);
    return 0;
}
