/* The handle is where pthread_create was asked to put it before the thread begins.
 * prints: 0 */
#include "hooks.h"
static pthread_t handles[200];
static atomic_int wrong;
static void *run(void *p)
{
    wrong += !pthread_equal(*(volatile pthread_t *)p, pthread_self());
    return 0;
}
int main(void)
{
    for (int i = 0; i < 200; i++)
        pthread_create(&handles[i], 0, run, &handles[i]);
    for (int i = 0; i < 200; i++)
        pthread_join(handles[i], 0);
    printf("%d\n", wrong);
}
