// Fig. 2 of the paper; the labels are in the comments.
#include <pthread.h>
static pthread_mutex_t lk1 = PTHREAD_MUTEX_INITIALIZER, lk2 = PTHREAD_MUTEX_INITIALIZER;
static int a, b, x, y;

static void *t1(void *arg)
{
    a = 1;
    pthread_mutex_lock(&lk1);
    pthread_mutex_lock(&lk2);
    y = 1;
    pthread_mutex_unlock(&lk2);
    x = 3; // 6a
    pthread_mutex_unlock(&lk1);
    return arg;
}

static void *t2(void *arg)
{
    pthread_mutex_lock(&lk2);
    x = 0; // 2b
    pthread_mutex_lock(&lk1);
    b = 2;
    pthread_mutex_unlock(&lk1);
    x = 2; // 6b
    pthread_mutex_unlock(&lk2);
    pthread_mutex_lock(&lk2);
    x = 1; // 9b
    return arg;
}

int main(void)
{
    pthread_t one, two;
    pthread_create(&one, NULL, t1, NULL);
    pthread_create(&two, NULL, t2, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
