// Races only when a variable of the environment begins with a y.
#include <pthread.h>
#include <stdlib.h>

static int shared;

static void *worker(void *arg)
{
    shared++;
    return arg;
}

int main(void)
{
    pthread_t thread;
    const char *wish = getenv("RADDLE_TEST_WISH");
    pthread_create(&thread, NULL, worker, NULL);
    if (wish != NULL && *wish == 'y')
        shared++;
    pthread_join(thread, NULL);
    return 0;
}
