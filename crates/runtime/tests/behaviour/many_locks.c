/* Sets of locks whose numbers do not fit into two bytes: each access is reported with those that it had.
 * races: 10-20 11-21 12-22
 * locks: 10=1 11=2 12=0 20=0 21=0 22=0
 * prints: 3 */
#include "hooks.h"
#define MANY 20000
static pthread_mutex_t m[MANY];
static int x[3];
static atomic_int done;
static void *takes(void *p)
{
    FUNCTION(1);
    for (int i = 0; i < MANY; i++) {
        CALL(2, pthread_mutex_lock(&m[i]));
        CALL(3, pthread_mutex_unlock(&m[i]));
    }
    CALL(2, pthread_mutex_lock(&m[MANY - 1]));
    W(x[0], 1, 10);
    CALL(2, pthread_mutex_lock(&m[MANY - 2]));
    W(x[1], 1, 11);
    CALL(3, pthread_mutex_unlock(&m[MANY - 2]));
    CALL(3, pthread_mutex_unlock(&m[MANY - 1]));
    W(x[2], 1, 12);
    done = 1;
    return p;
}
static void *looks(void *p)
{
    FUNCTION(4);
    int sum = 0;
    while (!done)
        usleep(100);
    for (int i = 0; i < 3; i++)
        sum += R(x[i], 20 + i);
    printf("%d\n", sum);
    return p;
}
int main(void)
{
    pthread_t a, b;
    for (int i = 0; i < MANY; i++)
        pthread_mutex_init(&m[i], 0);
    pthread_create(&a, 0, takes, 0);
    pthread_create(&b, 0, looks, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
