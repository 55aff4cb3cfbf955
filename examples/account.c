// A library without `main`: any number of clients may call its functions at once. One counter was forgotten.
#include <pthread.h>

struct account {
    pthread_mutex_t lock;
    long balance;
    long moves;
};

void account_deposit(struct account *a, long amount)
{
    pthread_mutex_lock(&a->lock);
    a->balance += amount;
    pthread_mutex_unlock(&a->lock);
    a->moves++;
}

long account_balance(struct account *a)
{
    pthread_mutex_lock(&a->lock);
    long balance = a->balance;
    pthread_mutex_unlock(&a->lock);
    return balance;
}
