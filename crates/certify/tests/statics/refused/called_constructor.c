// The constructor is called once more: two threads.
#include <pthread.h>

static int counter;

static void *worker(void *arg)
{
    (void)arg;
    counter++;
    return NULL;
}

__attribute__((constructor)) static void begin(void)
{
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
}

int main(void)
{
    begin();
    pthread_exit(NULL);
}
