/* A block is freed while another thread still reads it; memory that is handed out again is new. races: 2-21
 * prints: done */
#include "hooks.h"
static int *block;
static volatile int read_it;
static void *reads(void *p)
{
    FUNCTION(20);
    R(block[3], 2);
    read_it = 1;
    return p;
}
static void *uses(void *p)
{
    FUNCTION(30);
    for (int i = 0; i < 100; i++) {
        int *mine = CALL(31, malloc(64));
        W(mine[3], i, 32);
        CALL(33, free(mine));
    }
    return p;
}
int main(void)
{
    FUNCTION(10);
    pthread_t t, u[2];
    block = CALL(11, malloc(64));
    pthread_create(&t, 0, reads, 0);
    later(&read_it);
    CALL(21, free(block));
    for (int i = 0; i < 2; i++)
        pthread_create(&u[i], 0, uses, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(u[i], 0);
    pthread_join(t, 0);
    puts("done");
}
