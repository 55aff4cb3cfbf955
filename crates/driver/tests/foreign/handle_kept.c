//@ static: safe A-EXTLOCK A-EXTNAME
//@ explore: unknown
//@ check: safe
// An opaque handle, made and used by functions without a body; static variables of the program are not reachable from it.
#include <pthread.h>

struct handle;
extern struct handle *open_handle(int kind);
extern void use_handle(struct handle *handle, int value);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

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
