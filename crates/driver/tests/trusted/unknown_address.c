//@ static: unknown
// Nothing is known of an address that assembly makes.
#include <pthread.h>

static int x;

static void *worker(void *p)
{
    int *where;
    __asm__("lea x(%%rip), %0" : "=r"(where));
    *where = 1;
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    x = 2;
    pthread_join(t, 0);
    return 0;
}
