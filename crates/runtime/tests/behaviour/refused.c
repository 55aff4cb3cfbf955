/* An unlock that fails orders nothing; one that works does.
 * races: 1-2
 * prints: EPERM */
#include "hooks.h"
static pthread_mutex_t m = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static int x, y, go;
static void *run(void *p)
{
    later(&go);
    pthread_mutex_lock(&m);
    W(x, 2, 2);
    R(y, 4);
    pthread_mutex_unlock(&m);
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    pthread_mutex_lock(&m);
    W(y, 1, 3);
    pthread_mutex_unlock(&m);
    W(x, 1, 1);
    puts(pthread_mutex_unlock(&m) == EPERM ? "EPERM" : "?");
    go = 1;
    pthread_join(t, 0);
}
