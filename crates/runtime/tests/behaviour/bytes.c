/* Neighbouring bytes are different variables. races: 3-6
 * prints: done */
#include "hooks.h"
static char b[8];
static volatile int done;
static void *run(void *p)
{
    __raddle_write1(&b[0], 1);
    __raddle_write1(&b[1], 2);
    __raddle_write1(&b[6], 3);
    done = 1;
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    later(&done);
    __raddle_write1(&b[2], 4);
    __raddle_write1(&b[5], 5);
    __raddle_read1(&b[6], 6);
    pthread_join(t, 0);
    puts("done");
}
