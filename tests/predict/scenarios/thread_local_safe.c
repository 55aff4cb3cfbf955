//@ verdict: safe
//@ deadlocks: none
// One name, but a scratch variable for each thread; only the sum is shared.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int scratch;
int sum;

static void *worker(void *arg)
{
    scratch = 3; // NORACE: scratch
    scratch *= 2; // NORACE: scratch
    pthread_mutex_lock(&m);
    sum += scratch;
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, worker, NULL);
    pthread_create(&t, NULL, worker, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return sum < 0;
}
