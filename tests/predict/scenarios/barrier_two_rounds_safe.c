//@ verdict: safe
//@ deadlocks: none
// Two rounds of one barrier between the reads and the writes of both slots.
#include <pthread.h>

static pthread_barrier_t barrier;
int slot[2];
static int ids[2] = {0, 1};

static void *worker(void *arg)
{
    int id = *(int *)arg, got;
    slot[id] = id + 1; // NORACE: slot
    pthread_barrier_wait(&barrier);
    got = slot[1 - id]; // NORACE: slot
    pthread_barrier_wait(&barrier);
    slot[id] = got * 10; // NORACE: slot
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&s, NULL, worker, &ids[0]);
    pthread_create(&t, NULL, worker, &ids[1]);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return slot[0] + slot[1] < 0;
}
