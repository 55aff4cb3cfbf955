//@ verdict: race
//@ threads: any
// A worker takes the task at half the number that the mutex gave it.
#include <pthread.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned left;
static int *tasks;

static void *worker(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&m);
        unsigned got = left; // NORACE: left
        if (got > 0)
            left--; // NORACE: left
        pthread_mutex_unlock(&m);
        if (got == 0)
            return arg;
        tasks[got / 2]++; // RACE#1: tasks[...]
    }
}

int main(void)
{
    left = __VERIFIER_nondet_uint();
    tasks = malloc((left + (size_t)1) * sizeof *tasks);
    if (!tasks)
        return 1;
    for (size_t i = 0; i <= left; i++) // NORACE: left
        tasks[i] = (int)i; // NORACE: tasks[i]
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, worker, NULL);
    }
}
