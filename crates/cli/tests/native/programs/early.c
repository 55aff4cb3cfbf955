/* A thread that starts before every other initialiser. */
#include <pthread.h>
#include <stdio.h>
static int shared;
static pthread_t early;
static void *worker(void *arg)
{
    shared++;
    return arg;
}
static void begin(void) { pthread_create(&early, NULL, worker, NULL); }
__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = begin;
int main(int argc, char **argv)
{
    if (argc > 1)
        shared++;
    pthread_join(early, NULL);
    if (argc == 1)
        shared++;
    printf("shared %d\n", shared);
    return 0;
}
