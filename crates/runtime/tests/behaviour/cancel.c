/* Accesses in a cleanup handler after a cancelled wait are made under the mutex. races:
 * prints: -1 -1 5 2 */
#include "hooks.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s;
static int x;
static volatile int waiting;
static void unlock(void *p)
{
    W(x, R(x, 1) + 1, 2);
    pthread_mutex_unlock(p);
}
static void *waits(void *p)
{
    pthread_mutex_lock(&m);
    pthread_cleanup_push(unlock, &m);
    waiting = 1;
    for (;;)
        pthread_cond_wait(&c, &m);
    pthread_cleanup_pop(1);
    return p;
}
static void *posts(void *p)
{
    sem_wait(&s);
    return p;
}
static void *exits(void *p)
{
    pthread_exit((void *)5);
}
int main(void)
{
    void *(*runs[])(void *) = {waits, posts, exits};
    pthread_t t[3];
    sem_init(&s, 0, 0);
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], 0, runs[i], 0);
    later(&waiting);
    pthread_mutex_lock(&m);
    W(x, R(x, 3) + 1, 4);
    pthread_mutex_unlock(&m);
    for (int i = 0; i < 2; i++)
        pthread_cancel(t[i]);
    for (int i = 0; i < 3; i++) {
        void *result;
        pthread_join(t[i], &result);
        printf("%ld\n", (long)result);
    }
    printf("%d\n", R(x, 5));
}
