/* Branches on locals that nobody has set: C gives them no meaning, and the compiler may leave out all that follows. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static int x;
static void *child(void *arg)
{
#ifdef ENDS
    usleep(200000);
#endif
    x++;
    return arg;
}
static void set(int *p) { *p = 1; }
int main(void)
{
    int undefined;
    struct { int a, b; } pair;
    int taken;
    pthread_t t;
    pthread_create(&t, NULL, child, NULL);
    x = 5;
    if (undefined)
        pthread_exit(NULL);
    if (pair.b)
        pthread_exit(NULL);
    if (taken)
        pthread_exit(NULL);
    set(&taken);
#ifdef ENDS
    /* The first thread ends, and the race is reported by another one. */
    pthread_exit(NULL);
#endif
    pthread_join(t, NULL);
    printf("came to the end\n");
    return 0;
}
