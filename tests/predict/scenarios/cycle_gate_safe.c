//@ verdict: safe
//@ deadlocks: none
// Three locks in a cycle, but every thread takes the gate first.
#include <pthread.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t c = PTHREAD_MUTEX_INITIALIZER;
int x;

static void *first(void *arg)
{
    pthread_mutex_lock(&gate);
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    x++; // NORACE: x
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&gate);
    return arg;
}

static void *second(void *arg)
{
    pthread_mutex_lock(&gate);
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&c);
    x++; // NORACE: x
    pthread_mutex_unlock(&c);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&gate);
    return arg;
}

static void *third(void *arg)
{
    pthread_mutex_lock(&gate);
    pthread_mutex_lock(&c);
    pthread_mutex_lock(&a);
    x++; // NORACE: x
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&c);
    pthread_mutex_unlock(&gate);
    return arg;
}

int main(void)
{
    pthread_t r, s, t;
    pthread_create(&r, NULL, first, NULL);
    pthread_create(&s, NULL, second, NULL);
    pthread_create(&t, NULL, third, NULL);
    pthread_join(r, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return x < 0;
}
