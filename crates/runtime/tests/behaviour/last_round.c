/* Who leaves a barrier first may destroy it; the others were there all the same.
 * prints: done */
#include "hooks.h"
static pthread_barrier_t *b;
static int x, y;
static void *run(void *p)
{
    W(y, 1, 1);
    pthread_barrier_wait(p);
    R(x, 2);
    return 0;
}
int main(void)
{
    for (int i = 0; i < 1000; i++) {
        pthread_t t;
        b = malloc(sizeof *b);
        pthread_barrier_init(b, 0, 2);
        pthread_create(&t, 0, run, b);
        W(x, 1, 3);
        pthread_barrier_wait(b);
        R(y, 4);
        pthread_barrier_destroy(b);
        free(b);
        pthread_join(t, 0);
    }
    puts("done");
}
