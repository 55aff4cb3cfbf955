//@ verdict: safe
//@ deadlocks: found
// Three locks, three threads, three functions; no two of them alone can deadlock.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t c = PTHREAD_MUTEX_INITIALIZER;
int x;

static void *first(void *arg)
{
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b); // FINDING: deadlock
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return arg;
}

static void *second(void *arg)
{
    usleep(40000);
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&c); // FINDING: deadlock
    pthread_mutex_unlock(&c);
    pthread_mutex_unlock(&b);
    return arg;
}

static void *third(void *arg)
{
    usleep(80000);
    pthread_mutex_lock(&c);
    pthread_mutex_lock(&a); // FINDING: deadlock
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&c);
    return arg;
}

int main(void)
{
    pthread_t r, s, t;
    pthread_create(&r, NULL, first, NULL);
    pthread_create(&s, NULL, second, NULL);
    pthread_create(&t, NULL, third, NULL);
    pthread_join(r, NULL); // FINDING: deadlock
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return x;
}
