//@ static: safe A-EXTLOCK A-EXTNAME
//@ explore: unknown
//@ check: safe
// All uses of what is handed out are under one lock that is not.
#include <pthread.h>

extern void update(int *cell);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    update(&counter);
    counter++;
    pthread_mutex_unlock(&lock);
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
