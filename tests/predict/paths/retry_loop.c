//@ verdict: race
//@ deadlocks: none
// The taker asks again until it gets a ticket, so that a lock comes where the recorded run had none. The other giver's ticket lets it through without
// any order with the first write.
#include <pthread.h>
#include <unistd.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, log_lock = PTHREAD_MUTEX_INITIALIZER;
int tickets, asked, x;

static void give(void)
{
    pthread_mutex_lock(&m);
    tickets++;
    pthread_mutex_unlock(&m);
}

static void *first_giver(void *arg)
{
    x = 1; // RACE#1: x
    give();
    return arg;
}

static void *second_giver(void *arg)
{
    usleep(100000);
    give();
    return arg;
}

static void *taker(void *arg)
{
    usleep(50000);
    for (;;) {
        pthread_mutex_lock(&m);
        int got = tickets > 0;
        tickets -= got;
        pthread_mutex_unlock(&m);
        if (got)
            break;
        pthread_mutex_lock(&log_lock);
        asked++;
        pthread_mutex_unlock(&log_lock);
        usleep(1000);
    }
    x = 2; // RACE#1: x
    pthread_mutex_lock(&log_lock);
    asked++;
    pthread_mutex_unlock(&log_lock);
    return arg;
}

int main(void)
{
    pthread_t s, t, u;
    pthread_create(&s, NULL, first_giver, NULL);
    pthread_create(&t, NULL, taker, NULL);
    pthread_create(&u, NULL, second_giver, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return x + asked < 0;
}
