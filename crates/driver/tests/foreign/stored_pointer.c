//@ static: unknown
//@ explore: unknown
//@ check: unknown
// The call may put the address of one variable that was handed out into another.
#include <pthread.h>

extern void link_cells(int **where, int *cell);

static int counter;
static int other;
static int *where = &other;

static void *worker(void *arg)
{
    *where = 1;
    return arg;
}

int main(void)
{
    pthread_t a;
    link_cells(&where, &counter);
    pthread_create(&a, NULL, worker, NULL);
    counter = 2;
    pthread_join(a, NULL);
    return 0;
}
