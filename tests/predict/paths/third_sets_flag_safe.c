//@ verdict: safe
//@ deadlocks: none
// As in third_sets_flag.c, but the third thread sets the flag only when the writer has let it: whoever has seen the flag comes after the first write.
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
sem_t written;
int x, flag;

static void *writer(void *arg)
{
    x = 1; // NORACE
    sem_post(&written);
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
        x = 2; // NORACE
    return arg;
}

static void *third(void *arg)
{
    usleep(100000);
    sem_wait(&written);
    pthread_mutex_lock(&m);
    flag = 1;
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t s, t, u;
    sem_init(&written, 0, 0);
    pthread_create(&s, NULL, writer, NULL);
    pthread_create(&t, NULL, reader, NULL);
    pthread_create(&u, NULL, third, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return x < 0;
}
