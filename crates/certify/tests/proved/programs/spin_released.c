// The lock is given back before the access.
#include <pthread.h>
#include <stdatomic.h>

atomic_int vacant = 1;
int data;

void *worker(void *arg)
{
    for (;;) {
        while (atomic_exchange(&vacant, 0) == 0) {
        }
        atomic_store(&vacant, 1); // INV: (and (= {m:vacant} #x00000000) (= {w:vacant} tid))
        data++; // INV: (and (= {m:vacant} #x00000000) (= {w:vacant} tid))
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
