/* Handlers run in the middle of accesses of their thread. races: 5-6
 * prints: done */
#include "hooks.h"
static int x, y, shared;
static _Atomic int counter;
static void count(uint32_t site)
{
    void *token = __raddle_atomic_enter(&counter, 4, 2, 5, 5, site);
    counter++;
    __raddle_atomic_leave(token, 1);
}
static void handler(int signal)
{
    W(x, R(x, 1) + 1, 2);
    count(3);
    (void)signal;
}
static void *run(void *p)
{
    W(shared, 1, 5);
    return p;
}
int main(void)
{
    pthread_t t;
    struct itimerspec often = {{0, 20000}, {0, 20000}};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
    timer_t timer;
    signal(SIGUSR1, handler);
    event._sigev_un._tid = gettid();
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &often, 0);
    pthread_create(&t, 0, run, 0);
    for (int i = 0; i < 2000000; i++) {
        W(y, i, 4);
        W(x, i, 8);
        count(9);
    }
    W(shared, 2, 6);
    timer_delete(timer);
    pthread_join(t, 0);
    puts("done");
}
