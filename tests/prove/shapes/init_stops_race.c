//@ verdict: race
//@ threads: any
// The mutex is used only if it could NOT be made.
#include <pthread.h>

static pthread_mutex_t m;
static int failed;
static unsigned x;

static void enter(void)
{
    if (failed) // NORACE: failed
        pthread_mutex_lock(&m);
}

static void leave(void)
{
    if (failed) // NORACE: failed
        pthread_mutex_unlock(&m);
}

static void *thread(void *arg)
{
    enter();
    x++; // RACE#1: x
    leave();
    return arg;
}

int main(void)
{
    int error = pthread_mutex_init(&m, NULL);
    x = 0; // NORACE: x
    failed = error != 0; // NORACE: failed
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
}
