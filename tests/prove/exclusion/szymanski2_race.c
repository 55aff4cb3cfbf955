//@ verdict: race
//@ threads: 2
// Szymanski's lock without the wait for threads with a lower number.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag[2];
static unsigned x;

static void *thread(void *arg)
{
    int me = arg != NULL;
    int other = 1 - me;
    for (;;) {
        flag[me] = 1;
        while (flag[other] >= 3)
            ;
        flag[me] = 3;
        if (flag[other] == 1) {
            flag[me] = 2;
            while (flag[other] != 4)
                ;
        }
        flag[me] = 4;
        x++; // RACE#1: x
        for (int seen = 2; me == 0 && (seen == 2 || seen == 3);)
            seen = flag[1];
        flag[me] = 0;
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, (void *)1L);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
