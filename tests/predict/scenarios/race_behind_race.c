//@ verdict: race
//@ deadlocks: none
// The race on the payload is behind the race on the flag: it needs the flag to be seen.
#include <pthread.h>
#include <unistd.h>

int payload, flag, out;

static void *first(void *arg)
{
    payload = 42; // RACE#2: payload
    flag = 1; // RACE#1: flag
    return arg;
}

static void *second(void *arg)
{
    usleep(50000);
    if (flag) // RACE#1: flag
        out = payload; // RACE#2: payload
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, first, NULL);
    pthread_create(&t, NULL, second, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return out < 0;
}
