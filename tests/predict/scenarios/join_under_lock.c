//@ verdict: safe
//@ deadlocks: found
// Main joins while it holds the lock that the worker needs; usually the worker is done by then.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x;

static void *worker(void *arg)
{
    pthread_mutex_lock(&m); // FINDING: deadlock
    x++;
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    usleep(50000);
    pthread_mutex_lock(&m);
    pthread_join(t, NULL); // FINDING: deadlock
    pthread_mutex_unlock(&m);
    return x < 0;
}
