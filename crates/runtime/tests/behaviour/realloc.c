/* realloc writes what it copies, and not more.
 * races: 5-6
 * prints: 3 */
#include "hooks.h"
static int *volatile shared;
static volatile int done;
static void *run(void *p)
{
    while (!shared)
        sched_yield();
    printf("%d\n", R(shared[9], 6));
    R(shared[10], 7);
    done = 1;
    return p;
}
int main(void)
{
    pthread_t t;
    int *cells = malloc(40);
    W(cells[9], 3, 1);
    pthread_create(&t, 0, run, 0);
    cells = CALL(5, realloc(cells, 1 << 20));
    shared = cells;
    later(&done);
    pthread_join(t, 0);
    free(cells);
}
