//@ verdict: unknown
//@ threads: 2
//@ truth: by hand: the mutex is held by a thread that has ended when it is made anew, which is undefined; with glibc x races.
// The mutex that a thread held when it ended is made anew by an assignment: both threads take it, and leave it before x.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x, done;

static void *keeper(void *arg)
{
    pthread_mutex_lock(&m);
    done = 1;
    return arg;
}

static void *worker(void *arg)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    x++;
    return arg;
}

int main(void)
{
    pthread_t k, a, b;
    pthread_create(&k, NULL, keeper, NULL);
    pthread_join(k, NULL);
    if (!done)
        return 0;
    m = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
