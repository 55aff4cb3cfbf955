// Compiled without Raddle: starts two threads of the program's own before main.
#include <pthread.h>

void *bump(void *arg);

__attribute__((constructor)) static void start(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, bump, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
}
