/* An atomic load that the inline code makes without going in has to be looked at again, while a fork keeps all threads out: it waits.
 * prints: 0 went in, 1 in the end */
#include "hooks.h"
extern volatile uint8_t __raddle_careful;
static int x;
static FILE *file;
static volatile int holds, stands, forked, left, went_in;
static void load(int stays)
{
    void *token = __raddle_atomic_enter(&x, 4, 0, 0, 0, 5);
    __atomic_load_n(&x, __ATOMIC_RELAXED);
    for (stands = stays; stays && !__raddle_careful && !forked;)
        sched_yield();
    __raddle_atomic_leave(token, 1);
}
static void *loads(void *p)
{
    load(0);
    load(0);
    load(1);
    left = 1;
    return p;
}
/* The fork waits for the list of streams, which `flushes` has, which waits for a stream, which `keeps` has. */
static void *keeps(void *p)
{
    flockfile(file);
    holds = 1;
    while (!__raddle_careful && !forked)
        sched_yield();
    for (int i = 0; i < 300 && !left && !forked; i++)
        usleep(1000);
    went_in = left && !forked;
    funlockfile(file);
    return p;
}
static void *flushes(void *p)
{
    fflush(0);
    return p;
}
int main(void)
{
    pthread_t t[3];
    file = fopen("/dev/null", "w");
    fputs("unwritten", file);
    pthread_create(&t[0], 0, loads, 0);
    later(&stands);
    /* The record is not as it was. */
    void *token = __raddle_atomic_enter(&x, 4, 1, 0, 0, 6);
    __atomic_store_n(&x, 1, __ATOMIC_RELAXED);
    __raddle_atomic_leave(token, 1);
    pthread_create(&t[1], 0, keeps, 0);
    later(&holds);
    pthread_create(&t[2], 0, flushes, 0);
    usleep(100000);
    if (fork() == 0)
        _exit(0);
    forked = 1;
    wait(0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    printf("%d went in, %d in the end\n", went_in, left);
}
