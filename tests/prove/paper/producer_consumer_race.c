//@ verdict: race
//@ threads: 2
// The producer says that data is ready before it writes it.
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
        flag = 1;
        data = __VERIFIER_nondet_int(); // RACE#1: data
    }
    return arg;
}

static void *consumer(void *arg)
{
    for (;;) {
        while (flag != 1)
            ;
        copy = data; // RACE#1: data; NORACE: copy
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
