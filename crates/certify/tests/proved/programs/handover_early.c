// The consumer does not wait for its turn.
#include <pthread.h>
#include <stdatomic.h>

atomic_int flag;
int data;

void *producer(void *arg)
{
    for (;;) {
        while (atomic_load(&flag) != 0) {
        }
        data++;                 // INV: (= {m:flag} #x00000000)
        atomic_store(&flag, 1); // INV: (= {m:flag} #x00000000)
    }
    return arg;
}

void *consumer(void *arg)
{
    for (;;) {
        while (atomic_load(&flag) > 1) {
        }
        data--;                 // INV: (= {m:flag} #x00000001)
        atomic_store(&flag, 0); // INV: (= {m:flag} #x00000001)
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, producer, 0);
    pthread_create(&b, 0, consumer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
