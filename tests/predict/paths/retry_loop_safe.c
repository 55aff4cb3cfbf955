//@ verdict: safe
//@ deadlocks: none
// As in retry_loop.c, but the second ticket is given only after the first: each of them comes after the first write.
#include <pthread.h>
#include <unistd.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, log_lock = PTHREAD_MUTEX_INITIALIZER;
int tickets, given, asked, x;

static void give(void)
{
    pthread_mutex_lock(&m);
    tickets++;
    given++;
    pthread_mutex_unlock(&m);
}

static void *first_giver(void *arg)
{
    x = 1; // NORACE
    give();
    return arg;
}

static void *second_giver(void *arg)
{
    for (int waits = 1; waits;) {
        usleep(10000);
        pthread_mutex_lock(&m);
        waits = !given;
        pthread_mutex_unlock(&m);
    }
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
    x = 2; // NORACE
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
