//@ verdict: race
//@ threads: any
// What is stored is the error number, 0 when the mutex could be made: it is never taken.
#include <pthread.h>

static pthread_mutex_t m;
static int made;
static unsigned x;

static void *thread(void *arg)
{
    if (made) // NORACE: made
        pthread_mutex_lock(&m);
    x++; // RACE#1: x
    if (made) // NORACE: made
        pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    made = pthread_mutex_init(&m, NULL); // NORACE: made
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
}
