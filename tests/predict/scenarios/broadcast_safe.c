//@ verdict: safe
//@ deadlocks: none
// A broadcast lets two threads read what was written before it.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t start = PTHREAD_COND_INITIALIZER;
int go, setting, sum;

static void *reader(void *arg)
{
    pthread_mutex_lock(&m);
    while (!go)
        pthread_cond_wait(&start, &m);
    sum += setting; // NORACE: setting
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, reader, NULL);
    pthread_create(&t, NULL, reader, NULL);
    setting = 3; // NORACE: setting
    pthread_mutex_lock(&m);
    go = 1;
    pthread_cond_broadcast(&start);
    pthread_mutex_unlock(&m);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return sum < 0;
}
