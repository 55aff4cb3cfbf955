//@ verdict: safe
//@ threads: 2
// The value of flag says whose turn it is to touch data (Fig. 1).
#include <pthread.h>
#include <stdatomic.h>

extern int __VERIFIER_nondet_int(void);

static atomic_int flag;
static int data;
static int copy;

static void *producer(void *arg)
{
    for (;;) {
        while (flag != 0)
            ;
        data = __VERIFIER_nondet_int(); // NORACE: data
        flag = 1;
    }
    return arg;
}

static void *consumer(void *arg)
{
    for (;;) {
        while (flag != 1)
            ;
        copy = data; // NORACE: data; NORACE: copy
        flag = 0;
    }
    return arg;
}

int main(void)
{
    pthread_t p, c;
    pthread_create(&p, NULL, producer, NULL);
    pthread_create(&c, NULL, consumer, NULL);
    pthread_join(p, NULL);
    pthread_join(c, NULL);
    return 0;
}
