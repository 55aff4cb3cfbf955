/* Accesses of one epoch under more and more mutexes, each reported with those that it had.
 * races: 10-20 11-21 12-22 13-23 14-24 15-25 16-26
 * locks: 10=0 11=1 12=2 13=3 14=4 15=5 16=0 20=0 21=0 22=0 23=0 24=0 25=0 26=0
 * prints: 7 */
#include "hooks.h"
static pthread_mutex_t m[5] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                               PTHREAD_MUTEX_INITIALIZER};
static int x[7];
static atomic_int done;
static void *takes(void *p)
{
    FUNCTION(1);
    W(x[0], 1, 10);
    for (int i = 0; i < 5; i++) {
        CALL(2, pthread_mutex_lock(&m[i]));
        W(x[1 + i], 1, 11 + i);
    }
    for (int i = 0; i < 5; i++)
        CALL(3, pthread_mutex_unlock(&m[i]));
    W(x[6], 1, 16);
    done = 1;
    return p;
}
static void *looks(void *p)
{
    FUNCTION(4);
    int sum = 0;
    while (!done)
        usleep(100);
    for (int i = 0; i < 7; i++)
        sum += R(x[i], 20 + i);
    printf("%d\n", sum);
    return p;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, takes, 0);
    pthread_create(&b, 0, looks, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
