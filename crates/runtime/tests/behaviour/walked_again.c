/* Memory that is walked, given back, handed out again and walked again, with nothing between that others see.
 * races: 2-3
 * prints: same */
#include "hooks.h"
enum { N = 1000 };
void __raddle_write_walk(void *, int64_t, uint64_t, uint32_t, uint32_t);
static int *volatile shared;
static volatile int done;
static void *run(void *p)
{
    while (!shared)
        sched_yield();
    R(shared[500], 3);
    done = 1;
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    int *first = malloc(N * sizeof *first);
    __raddle_write_walk(first, sizeof *first, N, sizeof *first, 1);
    uintptr_t before = (uintptr_t)first;
    free(first);
    int *second = malloc(N * sizeof *second);
    __raddle_write_walk(second, sizeof *second, N, sizeof *second, 2);
    puts((uintptr_t)second == before ? "same" : "another");
    shared = second;
    later(&done);
    pthread_join(t, 0);
    free(second);
}
