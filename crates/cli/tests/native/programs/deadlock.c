#include "race.h"
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static void *other(void *arg)
{
    pthread_mutex_lock(&two);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&one);
    return arg;
}
int main(void)
{
    pthread_t a;
    race();
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&a, NULL, other, NULL);
    pthread_mutex_lock(&one);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&two);
    return 0;
}
