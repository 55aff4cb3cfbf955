/* The C library makes a thread for the function of a timer. */
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static int shared, done;

static void tick(union sigval value)
{
    (void)value;
    shared++;
    __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
}

int main(void)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = tick};
    struct itimerspec soon = {.it_value = {0, 1000000}};
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &soon, 0);
    while (!__atomic_load_n(&done, __ATOMIC_RELAXED))
        usleep(1000);
    shared++;
    puts("ticked");
    return 0;
}
