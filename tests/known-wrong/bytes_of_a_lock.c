//@ right: race
//@ answer: safe
//@ because: What the bytes of an initialised lock are is open; the interpreter reads zeros.
#include <pthread.h>
#include <string.h>

static int x;

static void *worker(void *arg)
{
    pthread_mutex_t lock;
    unsigned char bytes[sizeof lock];
    pthread_mutex_init(&lock, NULL);
    memcpy(bytes, &lock, sizeof lock);
    if (bytes[0] | bytes[16])
        x++;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
