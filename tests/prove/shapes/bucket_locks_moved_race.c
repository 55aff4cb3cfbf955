//@ verdict: race
//@ threads: any
// A list is moved to the next bucket under the lock of the one it comes from.
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

enum { BUCKETS = 8 };
static pthread_mutex_t lock[BUCKETS];
static void *slot[BUCKETS];

static void *thread(void *arg)
{
    for (;;) {
        unsigned bucket = __VERIFIER_nondet_uint() % BUCKETS;
        pthread_mutex_lock(&lock[bucket]);
        void *list = slot[bucket]; // RACE#1: slot[...]
        slot[(bucket + 1) % BUCKETS] = list; // RACE#1: slot[...]
        pthread_mutex_unlock(&lock[bucket]);
    }
    return arg;
}

int main(void)
{
    for (int i = 0; i < BUCKETS; i++)
        pthread_mutex_init(&lock[i], NULL);
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
}
