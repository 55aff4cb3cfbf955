//@ verdict: race
//@ deadlocks: none
// A broadcast wakes two threads, and both name themselves the winner.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t start = PTHREAD_COND_INITIALIZER;
int go, awake, winner;

static void *fast(void *arg)
{
    pthread_mutex_lock(&m);
    while (!go)
        pthread_cond_wait(&start, &m);
    pthread_mutex_unlock(&m);
    winner = 1; // RACE#1: winner
    pthread_mutex_lock(&m);
    awake++;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *slow(void *arg)
{
    pthread_mutex_lock(&m);
    while (!go)
        pthread_cond_wait(&start, &m);
    pthread_mutex_unlock(&m);
    usleep(100000);
    pthread_mutex_lock(&m);
    awake++;
    pthread_mutex_unlock(&m);
    winner = 2; // RACE#1: winner
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, fast, NULL);
    pthread_create(&t, NULL, slow, NULL);
    usleep(50000);
    pthread_mutex_lock(&m);
    go = 1;
    pthread_cond_broadcast(&start);
    pthread_mutex_unlock(&m);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return winner < 0;
}
