//@ static: unknown
//@ explore: unknown
//@ check: unknown
// The same with variables that other files can name: the functions may use them, and release the lock.
#include <pthread.h>

struct handle;
extern struct handle *open_handle(int kind);
extern void use_handle(struct handle *handle, int value);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int counter;

static void *worker(void *arg)
{
    struct handle *handle = open_handle(1);
    use_handle(handle, 2);
    pthread_mutex_lock(&lock);
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
