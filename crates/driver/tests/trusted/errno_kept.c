//@ static: unknown
// Another thread is given the address of errno.
#include <errno.h>
#include <pthread.h>

static void *worker(void *arg)
{
    *(int *)arg = 7;
    return NULL;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, worker, &errno);
    pthread_join(a, NULL);
    errno = 1;
    return 0;
}
