/* A lock of one's own, made known by raddle.h; the other data races. races: 3-3
 * prints: 2 */
#include "hooks.h"
static int word, x, exposed;
static void *run(void *p)
{
    while (__atomic_exchange_n(&word, 1, __ATOMIC_ACQUIRE))
        sched_yield();
    RADDLE_ACQUIRE(&word);
    W(x, R(x, 1) + 1, 2);
    RADDLE_RELEASE(&word);
    __atomic_store_n(&word, 0, __ATOMIC_RELEASE);
    W(exposed, 1, 3);
    return p;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, run, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    printf("%d\n", R(x, 4));
}
