//@ verdict: safe
//@ threads: any
// x is touched only if the mutex could be made, and then under it.
#include <pthread.h>

static pthread_mutex_t m;
static int made;
static unsigned x;

static void *thread(void *arg)
{
    if (made) // NORACE: made
        pthread_mutex_lock(&m);
    if (made) // NORACE: made
        x++; // NORACE: x
    if (made) // NORACE: made
        pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    made = pthread_mutex_init(&m, NULL) == 0; // NORACE: made
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
}
