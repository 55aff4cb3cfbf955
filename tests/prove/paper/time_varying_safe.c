//@ verdict: safe
//@ threads: any
// A busy block is protected by inode_lock, an idle one by busy_lock; busy changes only under both.
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

static pthread_mutex_t inode_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t busy_lock = PTHREAD_MUTEX_INITIALIZER;
static int inode, busy, block;

static void set_busy(int value)
{
    pthread_mutex_lock(&busy_lock);
    busy = value; // NORACE: busy
    pthread_mutex_unlock(&busy_lock);
    inode = value; // NORACE: inode
}

static void *user(void *arg)
{
    pthread_mutex_lock(&inode_lock);
    if (!inode) // NORACE: inode
        set_busy(1);
    block = 1; // NORACE: block
    if (__VERIFIER_nondet_int())
        set_busy(0);
    pthread_mutex_unlock(&inode_lock);
    return arg;
}

static void *scrubber(void *arg)
{
    pthread_mutex_lock(&busy_lock);
    if (!busy) // NORACE: busy
        block = 0; // NORACE: block
    pthread_mutex_unlock(&busy_lock);
    return arg;
}

int main(void)
{
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, user, NULL);
        pthread_create(&t, NULL, scrubber, NULL);
    }
}
