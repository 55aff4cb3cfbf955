// Whether the lock is used depends on the command line: an answer for one input is not an answer for all.
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int fast;
static long hits;

static void *worker(void *arg)
{
    (void)arg;
    if (!fast)
        pthread_mutex_lock(&lock);
    hits++;
    if (!fast)
        pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int argc, char **argv)
{
    fast = argc > 1 && strcmp(argv[1], "--fast") == 0;
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
