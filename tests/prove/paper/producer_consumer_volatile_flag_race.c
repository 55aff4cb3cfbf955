//@ verdict: race
//@ threads: 2
// A volatile flag orders nothing: flag races, and data with it, though data is never accessed simultaneously.
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

static volatile int flag;
static int data;
static int copy;

static void *producer(void *arg)
{
    for (;;) {
        while (flag != 0) // RACE#1: flag
            ;
        data = __VERIFIER_nondet_int(); // RACE#2: data
        flag = 1; // RACE#3: flag; RACE#4: flag
    }
    return arg;
}

static void *consumer(void *arg)
{
    for (;;) {
        while (flag != 1) // RACE#3: flag
            ;
        copy = data; // RACE#2: data; NORACE: copy
        flag = 0; // RACE#1: flag; RACE#4: flag
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
