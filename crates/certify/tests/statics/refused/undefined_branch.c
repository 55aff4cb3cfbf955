// An undefined value may be every value: the branch on it is not dead.
#include <pthread.h>

static int shared;

static void *worker(void *arg)
{
    int chosen;
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
