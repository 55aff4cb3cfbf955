// Races only with an argument and when the first letter of its input is an r.
#include <pthread.h>
#include <stdio.h>

static int shared;

static void *worker(void *arg)
{
    shared++;
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    (void)argv;
    pthread_create(&thread, NULL, worker, NULL);
    if (getchar() == 'r' && argc > 1)
        shared++;
    pthread_join(thread, NULL);
    return 0;
}
