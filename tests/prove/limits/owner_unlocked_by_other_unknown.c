//@ verdict: unknown
//@ threads: 2
//@ truth: by hand: main unlocks what another thread locked, which is undefined; glibc lets the workers go on, and x races.
// A mutex that is unlocked by who does not hold it must not count as held for good.
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
    pthread_mutex_unlock(&m);
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
