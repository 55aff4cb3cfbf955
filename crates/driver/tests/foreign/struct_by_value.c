//@ static: unknown
//@ explore: unknown
//@ check: unknown
// A structure that is passed by value, with a pointer in it.
#include <pthread.h>

struct request {
    long pad[4];
    int *cell;
};

extern void serve(struct request request);

static int counter;

static void *worker(void *arg)
{
    struct request request = {{0}, &counter};
    serve(request);
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
