// printf goes on to use the buffer.
#include <pthread.h>
#include <stdio.h>

static char buffer[BUFSIZ];

static void *worker(void *arg)
{
    printf("text");
    return arg;
}

int main(void)
{
    pthread_t a;
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    pthread_create(&a, NULL, worker, NULL);
    buffer[0] = 0;
    pthread_join(a, NULL);
    return 0;
}
