//@ verdict: race
//@ deadlocks: none
// The lock of an account guards its balance; the field `last` was added later, and forgotten.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct account {
    pthread_mutex_t lock;
    int balance;
    int last;
};

static void *deposit(void *arg)
{
    struct account *a = arg;
    a->last = 1; // RACE#1: a->last
    pthread_mutex_lock(&a->lock);
    a->balance += 10;
    pthread_mutex_unlock(&a->lock);
    return arg;
}

static void *withdraw(void *arg)
{
    struct account *a = arg;
    usleep(50000);
    pthread_mutex_lock(&a->lock);
    a->balance -= 10;
    pthread_mutex_unlock(&a->lock);
    a->last = 2; // RACE#1: a->last
    return arg;
}

int main(void)
{
    struct account *a = calloc(1, sizeof *a);
    pthread_t s, t;
    pthread_mutex_init(&a->lock, NULL);
    pthread_create(&s, NULL, deposit, a);
    pthread_create(&t, NULL, withdraw, a);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    free(a);
    return 0;
}
