//@ verdict: race
//@ threads: 3
// A filter for three threads with one level only lets two of them through.
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 3 };
static atomic_int level[THREADS], victim[THREADS];
static unsigned x;

static int ahead(int me, int l)
{
    for (int k = 0; k < THREADS; k++)
        if (k != me && level[k] >= l)
            return 1;
    return 0;
}

static void *thread(void *arg)
{
    int me = (int)(long)arg;
    for (;;) {
        for (int l = 1; l < THREADS - 1; l++) {
            level[me] = l;
            victim[l] = me;
            while (ahead(me, l) && victim[l] == me)
                ;
        }
        x++; // RACE#1: x
        level[me] = 0;
    }
    return arg;
}

int main(void)
{
    pthread_t t[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, thread, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    return 0;
}
