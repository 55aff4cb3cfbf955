// Threads, once functions, handlers and clients start with nothing held, whoever else calls them.
#include <pthread.h>
#include <stdlib.h>
void locks(const char *);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *thread(void *arg)
{
    locks("");
    return arg;
}

static void initialise(void)
{
    locks("");
}

static void last(void)
{
    locks("");
}

static void always_under_m(void)
{
    locks("m");
}

void client_read(void)
{
    locks("");
    pthread_mutex_lock(&m);
    always_under_m();
    pthread_mutex_unlock(&m);
}

int main(void)
{
    pthread_t t;
    atexit(last);
    pthread_mutex_lock(&m);
    pthread_create(&t, NULL, thread, NULL);
    locks("m");
    thread(NULL);
    pthread_once(&once, initialise);
    locks("m");
    initialise();
    pthread_mutex_unlock(&m);
    client_read();
    locks("");
    pthread_join(t, NULL);
    pthread_mutex_lock(&n);
    pthread_mutex_lock(&m);
    always_under_m();
    last();
    pthread_mutex_unlock(&m);
    pthread_mutex_unlock(&n);
    return 0;
}
