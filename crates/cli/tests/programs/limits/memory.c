// The program itself fills memory, without a visible operation in between.
//@ limits: explore --memory-limit 500M --time-limit 60
//@ limits: check --memory-limit 500M --time-limit 60
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
void *worker(void *arg)
{
    for (;;)
        memset(malloc(1 << 20), 1, 1 << 20);
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_join(t, 0);
    return 0;
}
