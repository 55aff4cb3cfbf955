/* races:
 * prints: 7 */
#include "hooks.h"
static sem_t s;
static int x;
static void *run(void *p)
{
    W(x, 7, 1);
    sem_post(&s);
    return p;
}
int main(void)
{
    pthread_t t;
    struct timespec soon = {0, 0};
    sem_init(&s, 0, 0);
    pthread_create(&t, 0, run, 0);
    pthread_detach(t);
    while (sem_timedwait(&s, &soon))
        sched_yield();
    printf("%d\n", R(x, 2));
}
