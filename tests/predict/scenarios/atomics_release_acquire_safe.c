//@ verdict: safe
//@ deadlocks: none
// Release and acquire order the payload where the flag is seen.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int flag;
int payload, out;

static void *sender(void *arg)
{
    payload = 42; // NORACE: payload
    atomic_store_explicit(&flag, 1, memory_order_release);
    return arg;
}

static void *receiver(void *arg)
{
    usleep(50000);
    if (atomic_load_explicit(&flag, memory_order_acquire))
        out = payload; // NORACE: payload
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
