/* Ends without handlers, with all descriptors closed: the findings are there. races: 1-2
 * prints:
 * exit: 3 */
#include "hooks.h"
static int x;
static volatile int done;
static void *run(void *p)
{
    W(x, 1, 1);
    done = 1;
    pause();
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    later(&done);
    for (int i = 0; i < 1024; i++)
        close(i);
    W(x, 2, 2);
    _exit(3);
}
