/* Whoever gets a robust mutex from a thread that died with it is ordered after that thread; so is who joins the first thread, and
 * the child of a fork after what was done before. races:
 * prints: 130 1 3 */
#include "hooks.h"
static pthread_mutex_t m;
static pthread_t first;
static int x, y, z;
static void *dies(void *p)
{
    pthread_mutex_lock(&m);
    W(x, 1, 1);
    return p;
}
static volatile int wrote;
static void *writes(void *p)
{
    W(z, 3, 5);
    wrote = 1;
    pause();
    return p;
}
static void *joins(void *p)
{
    pthread_join(first, 0);
    printf("%d\n", R(y, 4));
    pthread_t t;
    pthread_create(&t, 0, writes, 0);
    later(&wrote);
    fflush(stdout);
    if (fork() == 0) {
        printf("%d\n", R(z, 6));
        fflush(stdout);
        _exit(0);
    }
    wait(0);
    exit(0);
    return p;
}
int main(void)
{
    pthread_mutexattr_t attr;
    pthread_t t;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&m, &attr);
    pthread_create(&t, 0, dies, 0);
    pthread_detach(t);
    int result;
    while ((result = pthread_mutex_trylock(&m)) != EOWNERDEAD)
        if (result == 0)
            pthread_mutex_unlock(&m);
    W(x, 2, 2);
    printf("%d\n", result);
    pthread_mutex_consistent(&m);
    pthread_mutex_unlock(&m);
    first = pthread_self();
    pthread_create(&t, 0, joins, 0);
    W(y, 1, 3);
    pthread_exit(0);
}
