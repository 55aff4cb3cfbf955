//@ verdict: safe
//@ deadlocks: found
// The second thread takes the locks the other way round only once it has seen the flag. The first one sets it too late for a deadlock, the third one
// whenever it likes.
#include <pthread.h>
#include <unistd.h>

pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, m = PTHREAD_MUTEX_INITIALIZER;
int flag, sum;

static void set_flag(void)
{
    pthread_mutex_lock(&m);
    flag = 1;
    pthread_mutex_unlock(&m);
}

static void *first(void *arg)
{
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b); // FINDING: deadlock
    sum++;
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    set_flag();
    return arg;
}

static void *second(void *arg)
{
    usleep(50000);
    pthread_mutex_lock(&m);
    int seen = flag;
    pthread_mutex_unlock(&m);
    if (!seen)
        return arg;
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a); // FINDING: deadlock
    sum++;
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return arg;
}

static void *third(void *arg)
{
    usleep(100000);
    set_flag();
    return arg;
}

int main(void)
{
    pthread_t s, t, u;
    pthread_create(&s, NULL, first, NULL);
    pthread_create(&t, NULL, second, NULL);
    pthread_create(&u, NULL, third, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return sum < 0;
}
