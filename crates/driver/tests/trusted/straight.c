//@ explore: safe !A-LOOP !A-HASH
//@ static: safe !A-LOOP
// No loop, no hash.
#include <pthread.h>

static int x;

static void *worker(void *p)
{
    x = 1;
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_join(t, 0);
    x = 2;
    return 0;
}
