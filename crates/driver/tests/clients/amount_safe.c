//@ verdict: safe
// entries: deposit balance
// Numbers of clients are as wide as addresses: they do not become pointers by going through memory.
#include <pthread.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};

void deposit(struct account *a, long amount)
{
    pthread_mutex_lock(&a->lock);
    a->balance += amount;  // NORACE: a->balance
    pthread_mutex_unlock(&a->lock);
}

long balance(struct account *a)
{
    pthread_mutex_lock(&a->lock);
    long now = a->balance;  // NORACE: a->balance
    pthread_mutex_unlock(&a->lock);
    return now;
}

#ifdef CLIENT
static struct account one = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *other(void *p)
{
    balance(&one);
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, other, 0);
    deposit(&one, 1);
    pthread_join(t, 0);
    return 0;
}
#endif
