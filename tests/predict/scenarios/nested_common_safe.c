//@ verdict: safe
//@ deadlocks: none
// Different inner locks, a common outer one.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
int x;

static void *first(void *arg)
{
    pthread_mutex_lock(&outer);
    pthread_mutex_lock(&a);
    x++; // NORACE: x
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&outer);
    return arg;
}

static void *second(void *arg)
{
    pthread_mutex_lock(&outer);
    pthread_mutex_lock(&b);
    x++; // NORACE: x
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&outer);
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, first, NULL);
    pthread_create(&t, NULL, second, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return x < 0;
}
