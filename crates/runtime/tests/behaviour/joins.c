/* Threads that join and create at the same time get each other's handles at once.
 * prints: done */
#include "hooks.h"
static void *child(void *p)
{
    W(*(int *)p, 1, 1);
    return 0;
}
static void *manager(void *p)
{
    int cell = 0;
    for (int i = 0; i < 800; i++) {
        pthread_t t;
        W(cell, 2, 2);
        pthread_create(&t, 0, child, &cell);
        pthread_join(t, 0);
        W(cell, 3, 3);
    }
    return p;
}
int main(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], 0, manager, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], 0);
    puts("done");
}
