//@ verdict: safe
//@ threads: 3
//@ truth: by hand; in a model of the algorithm all states of three endless threads were enumerated
// Peterson's filter: each level holds back one thread, so one of three gets through both.
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
        for (int l = 1; l < THREADS; l++) {
            level[me] = l;
            victim[l] = me;
            while (ahead(me, l) && victim[l] == me)
                ;
        }
        x++; // NORACE: x
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
