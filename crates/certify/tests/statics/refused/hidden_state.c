// State of the library that no pointer of the program leads to.
#include <pthread.h>
#include <stdlib.h>

static void *worker(void *arg)
{
    drand48();
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
