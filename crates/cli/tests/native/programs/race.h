/* A race that every schedule shows: two threads write without any order. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int shared;
static void *write_shared(void *arg)
{
    shared = (int)(long)arg;
    return NULL;
}
static inline void race(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, write_shared, (void *)1);
    pthread_create(&b, NULL, write_shared, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
