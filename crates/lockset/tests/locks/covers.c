// Which accesses cover which: a comment names an access and, after a colon, those that cover it.
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void helper(void)
{
    x = 1; // h
}

static void on_one_way(int c)
{
    if (c)
        x = 2; // o: after
}

static void *thread(void *arg)
{
    int c = rand(), r;
    r = x; // r0
    helper();
    x = 3; // after: h
    on_one_way(c);
    x = 4; // again: after
    if (c)
        x = 5; // left: again
    else
        x = 6; // right: again
    r += x; // read: left right
    pthread_mutex_lock(&m);
    x = 7; // locked: left right
    pthread_mutex_lock(&n);
    pthread_mutex_unlock(&n);
    x = 8; // history: locked
    pthread_mutex_unlock(&m);
    for (int i = 0; i < c; i++)
        x = 9; // loop: left right
    return arg + r;
}

static void *second(void *arg)
{
    pthread_mutex_lock(&m);
    x = 10; // under
    pthread_mutex_unlock(&m);
    x = 11; // bare
    if (rand())
        x = 12; // sometimes: bare
    pthread_mutex_lock(&n);
    x = 13; // end: bare sometimes
    pthread_mutex_unlock(&n);
    return arg;
}

int main(void)
{
    pthread_t one, two;
    pthread_create(&one, NULL, thread, NULL);
    pthread_create(&two, NULL, second, NULL);
    return 0;
}
