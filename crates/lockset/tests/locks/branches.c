// What the sides of branches do. A comment after a branch has its sides in order: accesses with `+` the locks acquired since the branch
// and `-` the locks that may have been released, then `=` and the same at the merge, then flags.
#include <pthread.h>
#include <stdlib.h>
void unknown(void);
static pthread_mutex_t A = PTHREAD_MUTEX_INITIALIZER, B = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t C = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int x, y, z;

static void figure3(int c)
{
    pthread_mutex_lock(&B);
    if (c) { // sides: r:A w:x+A r:A+A w:y r:C =+C | r:C w:x+C =+C
        pthread_mutex_lock(&A);
        x = 1;
        pthread_mutex_unlock(&A);
        y = 2;
        pthread_mutex_lock(&C);
    } else {
        pthread_mutex_lock(&C);
        x = 3;
    }
    z = 4;
    pthread_mutex_unlock(&C);
    pthread_mutex_unlock(&B);
}

static void releases(int c)
{
    pthread_mutex_lock(&A);
    if (c) { // sides: r:A w:x-A r:B-A r:y+B-A w:z+B-A r:B+B-A r:A-A =+A-A | =
        pthread_mutex_unlock(&A);
        x = 1;
        pthread_mutex_lock(&B);
        z = y;
        pthread_mutex_unlock(&B);
        pthread_mutex_lock(&A);
    }
    pthread_mutex_unlock(&A);
}

static void callee(void)
{
    x = 1;
    pthread_mutex_lock(&B);
    y = 2;
    pthread_mutex_unlock(&B);
}

static void caller(int c)
{
    if (c) { // sides: r:A r:A+A w:x+A r:B+A w:y+A+B r:B+A+B = | =
        pthread_mutex_lock(&A);
        callee();
        pthread_mutex_unlock(&A);
    }
}

static void nested(int c, int d)
{
    if (c) { // sides: w:x w:y = | w:z =
        if (d) // sides: w:x = | w:y =
            x = 1;
        else
            y = 2;
    } else
        z = 3;
}

static void loops(int n)
{
    for (int i = 0; i < n; i++) { // sides: r:A w:x+A r:A+A = | =
        pthread_mutex_lock(&A);
        x = i;
        pthread_mutex_unlock(&A);
    }
}

static int sum(int n)
{
    if (n == 0) // sides: = | r:y r:y-? =
        return 0;
    return y + sum(n - 1);
}

static void leaves(int c, int d)
{
    if (c) // sides: w:x r:? = indirect leaves | =
        x = 1, exit(1);
    if (d > 1) { // sides: w:y = leaves | =
        y = 2;
        if (d > 2) // sides: = leaves | =
            abort();
    }
}

static void *thread(void *arg)
{
    return arg;
}

static void flagged(int c, int *p)
{
    pthread_t t;
    pthread_mutex_lock(&A);
    if (c) // sides: r:cond r:A = waits | =
        pthread_cond_wait(&cond, &A);
    pthread_mutex_unlock(&A);
    if (c > 1) // sides: =-? unknown | =
        unknown();
    if (c > 2) // sides: w:? = indirect | =
        *p = 1;
    if (c > 3) // sides: w:? = creates indirect | =
        pthread_create(&t, NULL, thread, NULL);
}

int main(int argc, char **argv)
{
    (void)argv;
    figure3(argc);
    releases(argc);
    caller(argc);
    nested(argc, argc * 2);
    loops(argc);
    sum(argc);
    leaves(argc, rand());
    flagged(argc, rand() ? &x : &y);
    return 0;
}
