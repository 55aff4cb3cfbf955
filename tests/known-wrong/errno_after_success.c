//@ right: race
//@ answer: safe
//@ because: A library function may change errno although it succeeds (C11 7.5p3).
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

static int x;

static void *worker(void *arg)
{
    errno = 0;
    printf("text\n");
    if (errno != 0)
        x++;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
