// Two threads are careful; the third one takes another lock.
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *careful(void *arg)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&m);
        count++;
        pthread_mutex_unlock(&m);
    }
    return arg;
}

static void *other(void *arg)
{
    usleep(200000);
    pthread_mutex_lock(&n);
    count += 2;
    pthread_mutex_unlock(&n);
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    count = 5;
    pthread_create(&a, 0, careful, 0);
    pthread_create(&b, 0, careful, 0);
    pthread_create(&c, 0, other, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return count == 0;
}
