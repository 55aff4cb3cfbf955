// `f` writes after `g` has created the thread, and each calls the other.
#include <pthread.h>
#include <stddef.h>

static int x;
static pthread_t handle;

static void f(int n);

static void *reader(void *arg)
{
    return x ? arg : NULL;
}

static void g(int n)
{
    if (n > 0)
        f(n - 1);
    else
        pthread_create(&handle, NULL, reader, NULL);
}

static void f(int n)
{
    if (n > 0)
        g(n - 1);
    x = 2;
}

int main(int argc, char **argv)
{
    (void)argv;
    f(argc);
    return 0;
}
