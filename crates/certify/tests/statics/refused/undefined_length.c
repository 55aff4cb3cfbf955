// As many bytes as an undefined value says.
#include <pthread.h>
#include <string.h>

static char from[8], to[8];

static void *worker(void *arg)
{
    unsigned long length;
    memcpy(to, from, length);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    to[0] = 1;
    pthread_join(t, NULL);
    return 0;
}
