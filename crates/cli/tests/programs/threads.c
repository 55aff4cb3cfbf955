// Starts threads without end.
#include <pthread.h>

static void *nothing(void *arg)
{
    return arg;
}

int main(void)
{
    for (;;) {
        pthread_t thread;
        pthread_create(&thread, NULL, nothing, NULL);
        pthread_detach(thread);
    }
}
