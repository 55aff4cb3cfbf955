/* races:
 * prints: 40 */
#include "hooks.h"
static pthread_mutex_t m;
static int x;
static void *run(void *p)
{
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&m);
        pthread_mutex_lock(&m);
        W(x, R(x, 1) + 1, 2);
        pthread_mutex_unlock(&m);
        W(x, R(x, 3) + 1, 4);
        pthread_mutex_unlock(&m);
    }
    return p;
}
int main(void)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&m, &attr);
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, run, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    printf("%d\n", R(x, 5));
}
