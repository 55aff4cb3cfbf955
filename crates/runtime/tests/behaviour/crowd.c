/* Thousands of threads at a time, and more that end without being joined. races: 6-6
 * prints: 2000 20000 */
#include "hooks.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int own[20000], go, count, exposed;
static void *waits(void *p)
{
    long me = (long)p;
    W(own[me], 1, 1);
    pthread_mutex_lock(&m);
    while (!R(go, 2))
        pthread_cond_wait(&c, &m);
    W(count, R(count, 3) + 1, 4);
    pthread_mutex_unlock(&m);
    if (me == 5 || me == 1500)
        W(exposed, 1, 6);
    return 0;
}
static void *leaves(void *p)
{
    W(own[(long)p], 1, 7);
    pthread_mutex_lock(&m);
    W(count, R(count, 8) + 1, 9);
    pthread_mutex_unlock(&m);
    R(own[(long)p], 10);
    return 0;
}
int main(void)
{
    static pthread_t t[2000];
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 65536);
    for (long i = 0; i < 2000; i++)
        while (pthread_create(&t[i], &attr, waits, (void *)i))
            sched_yield();
    pthread_mutex_lock(&m);
    W(go, 1, 11);
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
    for (int i = 0; i < 2000; i++)
        pthread_join(t[i], 0);
    printf("%d\n", R(count, 12));
    W(count, 0, 13);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    for (long i = 0; i < 20000; i++)
        while (pthread_create(&t[0], &attr, leaves, (void *)i))
            sched_yield();
    for (int all = 0; !all; sched_yield()) {
        pthread_mutex_lock(&m);
        all = R(count, 14) == 20000;
        pthread_mutex_unlock(&m);
    }
    printf("%d\n", R(count, 15));
}
