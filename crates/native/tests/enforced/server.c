// Opposite orders of two locks, while main waits for input or sleeps.
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static int done[2];
int x;




static void *first(void *arg)
{
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    x++;
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    write(done[1], "1", 1);
    return arg;
}

static void *second(void *arg)
{
    usleep(50000);
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    x++;
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    write(done[1], "2", 1);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t s, t;
    char byte;
    int reads = argc > 1 && !strcmp(argv[1], "read");
    if (pipe(done))
        return 2;


    pthread_create(&s, NULL, first, NULL);
    pthread_create(&t, NULL, second, NULL);
    for (int i = 0; i < 2; i++) {
        if (!reads)
            usleep(200000);
        if (read(done[0], &byte, 1) != 1)
            return 3;
    }
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return x != 2;
}
