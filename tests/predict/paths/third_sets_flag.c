//@ verdict: race
//@ deadlocks: none
// The reader needs the flag, which it usually has from the writer itself. In every order of the recorded events that makes the accesses race it reads the
// flag too early and goes another way; when it has the flag from the third thread, nothing orders the two.
#include <pthread.h>
#include <unistd.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x, flag;

static void *writer(void *arg)
{
    x = 1; // RACE#1: x
    pthread_mutex_lock(&m);
    flag = 1;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *reader(void *arg)
{
    usleep(50000);
    pthread_mutex_lock(&m);
    int seen = flag;
    pthread_mutex_unlock(&m);
    if (seen)
        x = 2; // RACE#1: x
    return arg;
}

static void *third(void *arg)
{
    usleep(100000);
    pthread_mutex_lock(&m);
    flag = 1;
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t s, t, u;
    pthread_create(&s, NULL, writer, NULL);
    pthread_create(&t, NULL, reader, NULL);
    pthread_create(&u, NULL, third, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return x < 0;
}
