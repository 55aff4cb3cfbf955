/* The hooks leave errno alone, also when they report. races: 2-3
 * prints: 77 77 77 */
#include "hooks.h"
static int x;
static volatile int done;
static void *run(void *p)
{
    W(x, 1, 2);
    done = 1;
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    later(&done);
    errno = 77;
    W(x, 1, 3);
    printf("%d\n", errno);
    free(malloc(1 << 24));
    printf("%d\n", errno);
    pthread_join(t, 0);
    RADDLE_RELEASE(&x);
    printf("%d\n", errno);
}
