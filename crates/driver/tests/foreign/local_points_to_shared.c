//@ static: unknown
//@ explore: unknown
//@ check: unknown
// What a local leads to is given, too.
#include <pthread.h>

struct request {
    int *cell;
};

extern void serve(struct request *request);

static int counter;

static void *worker(void *arg)
{
    struct request request = {&counter};
    serve(&request);
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
