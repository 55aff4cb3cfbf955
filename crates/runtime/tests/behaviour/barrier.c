/* races: 9-9
 * prints: done */
#include "hooks.h"
static pthread_barrier_t b;
static int cell[3], exposed;
static void *run(void *p)
{
    long me = (long)p;
    for (int round = 0; round < 20; round++) {
        W(cell[(me + round) % 3], round, 1);
        pthread_barrier_wait(&b);
        R(cell[0], 2), R(cell[1], 3), R(cell[2], 4);
        pthread_barrier_wait(&b);
    }
    W(exposed, 1, 9);
    return 0;
}
int main(void)
{
    pthread_t t[3];
    pthread_barrier_init(&b, 0, 3);
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], 0, run, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    pthread_barrier_destroy(&b);
    puts("done");
}
