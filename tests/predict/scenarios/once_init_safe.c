//@ verdict: safe
//@ deadlocks: none
// Whoever comes first initialises; the other waits for it.
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
int table, sum[2];
static int ids[2] = {0, 1};

static void init(void)
{
    table = 11; // NORACE: table
}

static void *worker(void *arg)
{
    int id = *(int *)arg;
    pthread_once(&once, init);
    sum[id] = table; // NORACE: table
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, worker, &ids[0]);
    pthread_create(&t, NULL, worker, &ids[1]);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return sum[0] + sum[1] < 0;
}
