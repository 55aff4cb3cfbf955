//@ verdict: race
//@ threads: any
// The stored result of trylock is tested for one error only.
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned x;

static void *thread(void *arg)
{
    for (;;) {
        int result = pthread_mutex_trylock(&m);
        int spare = 0;
        for (int i = 0; i < 2; i++)
            spare += i;
        if (result != EINVAL)
            x += (unsigned)spare; // RACE#1: x
        if (result == 0)
            pthread_mutex_unlock(&m);
    }
    return arg;
}

int main(void)
{
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
}
