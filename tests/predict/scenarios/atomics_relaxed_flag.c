//@ verdict: race
//@ deadlocks: none
// A relaxed flag carries no order to the payload.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int flag;
int payload, out;

static void *sender(void *arg)
{
    payload = 42; // RACE#1: payload
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return arg;
}

static void *receiver(void *arg)
{
    usleep(50000);
    if (atomic_load_explicit(&flag, memory_order_relaxed))
        out = payload; // RACE#1: payload
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, sender, NULL);
    pthread_create(&t, NULL, receiver, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return out < 0;
}
