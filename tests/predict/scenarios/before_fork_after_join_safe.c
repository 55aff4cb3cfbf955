//@ verdict: safe
//@ deadlocks: none
// Written by a constructor, read by the threads, written again after they were joined.
#include <pthread.h>

int limit, out[2];
static int ids[2] = {0, 1};

__attribute__((constructor)) static void set_limit(void)
{
    limit = 10; // NORACE: limit
}

static void *worker(void *arg)
{
    int id = *(int *)arg;
    out[id] = limit; // NORACE: limit
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, worker, &ids[0]);
    pthread_create(&t, NULL, worker, &ids[1]);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    limit = out[0] + out[1]; // NORACE: limit
    return limit < 0;
}
