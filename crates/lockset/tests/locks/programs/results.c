// Try-locks, timed locks, and what their results decide.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <threads.h>
#include <time.h>
void locks(const char *);
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t w = PTHREAD_MUTEX_INITIALIZER;
static mtx_t c11;

static void tried(void)
{
    if (pthread_mutex_trylock(&a) == 0) {
        locks("a");
        pthread_mutex_unlock(&a);
    } else
        locks("");
    locks("");
    pthread_mutex_trylock(&a);
    locks("");
    int rc = pthread_mutex_trylock(&b);
    locks("");
    if (rc == EBUSY)
        locks("");
    else
        locks("");
    if (rc)
        return;
    locks("b");
    pthread_mutex_unlock(&b);
}

static void until_it_works(void)
{
    while (pthread_mutex_trylock(&a) != 0)
        locks("");
    locks("a");
    pthread_mutex_unlock(&a);
}

static void timed(struct timespec *t)
{
    bool got = !pthread_mutex_timedlock(&a, t);
    if (got)
        locks("a");
    locks("");
    if (got)
        pthread_mutex_unlock(&a);
    if (mtx_trylock(&c11) == thrd_success) {
        locks("c11");
        mtx_unlock(&c11);
    }
    mtx_lock(&c11);
    locks("c11");
    mtx_unlock(&c11);
}

static void or_wait(void)
{
    if (pthread_mutex_trylock(&a) != 0) {
        pthread_mutex_lock(&a);
        locks("a");
    }
    locks("a");
    pthread_mutex_unlock(&a);
}

static int try_w(void)
{
    return pthread_mutex_trylock(&w);
}

static bool try_w2(void)
{
    if (try_w() == 0)
        return true;
    return false;
}

static int try_arg(pthread_mutex_t *m)
{
    int rc = pthread_mutex_trylock(m);
    return rc == 0;
}

static void wrapped(void)
{
    if (!try_w()) {
        locks("w");
        pthread_mutex_unlock(&w);
    } else
        locks("");
    if (try_w2()) {
        locks("w");
        pthread_mutex_unlock(&w);
    } else
        locks("");
    if (try_arg(&a)) {
        if (try_arg(&b)) {
            locks("a b");
            pthread_mutex_unlock(&b);
        }
        locks("a");
        pthread_mutex_unlock(&a);
    }
    locks("");
    try_w2();
    locks("");
}

int main(void)
{
    struct timespec t = {0, 0};
    mtx_init(&c11, mtx_plain);
    tried();
    until_it_works();
    timed(&t);
    or_wait();
    wrapped();
    return 0;
}
