/* Locks of the program's own that are bytes next to each other are different locks.
 * races: 1-2
 * prints: done */
#include "hooks.h"
uint32_t __raddle_own_begin(void *, uint32_t, uint32_t);
void __raddle_own_acquired(void *, uint32_t), __raddle_own_end(uint32_t);
#define ENTER(lock) __raddle_own_acquired(lock, 0)
#define LEAVE(lock) __raddle_own_end(__raddle_own_begin(lock, 0, 1))
static char lock[4];
static int x, y;
static volatile int go;
static void *run(void *p)
{
    later(&go);
    ENTER(&lock[1]);
    W(x, 2, 2);
    LEAVE(&lock[1]);
    ENTER(&lock[3]);
    W(y, 2, 4);
    LEAVE(&lock[3]);
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    ENTER(&lock[3]);
    W(y, 1, 3);
    LEAVE(&lock[3]);
    ENTER(&lock[2]);
    W(x, 1, 1);
    LEAVE(&lock[2]);
    go = 1;
    pthread_join(t, 0);
    puts("done");
}
