//@ verdict: race
//@ deadlocks: none
// One thread reads the slot of the other, which writes it again: a second barrier is missing between the two.
#include <pthread.h>
#include <unistd.h>

static pthread_barrier_t barrier;
int slot[2], out;

static void *even(void *arg)
{
    int got;
    slot[0] = 1; // NORACE: slot
    pthread_barrier_wait(&barrier);
    got = slot[1]; // NORACE: slot
    slot[0] = got * 10; // RACE#1: slot[0]
    return arg;
}

static void *odd(void *arg)
{
    slot[1] = 2; // NORACE: slot
    pthread_barrier_wait(&barrier);
    usleep(50000);
    out = slot[0]; // RACE#1: slot[0]
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&s, NULL, even, NULL);
    pthread_create(&t, NULL, odd, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return slot[0] + out < 0;
}
