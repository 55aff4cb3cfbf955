/* A block is freed and written by two threads. races: 11-12
 * prints: done */
#include "hooks.h"
static int *block;
static volatile int done;
void __raddle_write_n(void *, uint64_t, uint32_t);
static void *frees(void *p)
{
    FUNCTION(10);
    CALL(11, free(block));
    done = 1;
    return p;
}
int main(void)
{
    FUNCTION(1);
    pthread_t t;
    block = CALL(2, malloc(64));
    pthread_create(&t, 0, frees, 0);
    later(&done);
    CALL(12, __raddle_write_n(block, 64, 12));
    pthread_join(t, 0);
    puts("done");
}
