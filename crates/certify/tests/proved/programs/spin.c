// Any number of threads; the lock is free when it is one.
#include <pthread.h>
#include <stdatomic.h>

atomic_int vacant = 1;
int data;

void *worker(void *arg)
{
    for (;;) {
        while (atomic_exchange(&vacant, 0) == 0) {
        }
        data++;                   // INV: (and (= {m:vacant} #x00000000) (= {w:vacant} tid))
        atomic_store(&vacant, 1); // INV: (and (= {m:vacant} #x00000000) (= {w:vacant} tid))
    }
    return arg;
}

int main(void)
{
    for (;;) {
        pthread_t one;
        pthread_create(&one, 0, worker, 0);
    }
}
