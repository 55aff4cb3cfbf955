/* The child finds a race of its own, and both go on. races: 1-1 3-3
 * prints: child parent */
#include "hooks.h"
static int x, y;
static void *run(void *p)
{
    W(*(int *)p, 1, p == &x ? 1 : 3);
    return 0;
}
static void race(int *p)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, run, p);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
}
static volatile int stop;
static void *busy(void *p)
{
    while (!stop)
        free(malloc(100));
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, busy, 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        race(&x);
        puts("child");
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, 0, 0);
    stop = 1;
    pthread_join(t, 0);
    race(&y);
    puts("parent");
}
