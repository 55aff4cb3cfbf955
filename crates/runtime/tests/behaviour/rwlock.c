/* Writes under a read lock race. races: 3-3
 * prints: done */
#include "hooks.h"
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static int x, y;
static volatile int in;
static void *run(void *p)
{
    pthread_rwlock_wrlock(&l);
    W(x, R(x, 1) + 1, 2);
    pthread_rwlock_unlock(&l);
    __sync_fetch_and_add(&in, 1);
    while (in < 2)
        sched_yield();
    pthread_rwlock_rdlock(&l);
    R(x, 4);
    __sync_fetch_and_add(&in, 1);
    while (in < 4)
        sched_yield();
    W(y, 1, 3);
    pthread_rwlock_unlock(&l);
    return p;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, run, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    puts("done");
}
