// Message passing done right: the acquire load that sees the release store also sees the message.
#include <pthread.h>
#include <stdatomic.h>

static int message;
static atomic_int ready;

static void *sender(void *arg)
{
    (void)arg;
    message = 42;
    atomic_store_explicit(&ready, 1, memory_order_release);
    return NULL;
}

static void *receiver(void *arg)
{
    (void)arg;
    if (atomic_load_explicit(&ready, memory_order_acquire))
        return message == 42 ? NULL : arg;
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, sender, NULL);
    pthread_create(&b, NULL, receiver, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
