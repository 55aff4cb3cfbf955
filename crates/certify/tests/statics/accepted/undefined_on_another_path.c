// The twin of undefined_branch.c: what is set on the path that reads it.
#include <pthread.h>

static int shared;

static void *worker(void *arg)
{
    int chosen;
    if (arg == NULL)
        chosen = 0;
    else
        return NULL;
    if (chosen)
        shared++;
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    shared++;
    pthread_join(t, NULL);
    return 0;
}
