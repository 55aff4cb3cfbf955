//@ right: race
//@ answer: safe
//@ because: The third parameter of main is not connected with environ in the static analysis.
#include <pthread.h>
#include <stdlib.h>

static char **variables;

static void *writer(void *arg)
{
    setenv("A", "b", 1);
    return arg;
}

static void *reader(void *arg)
{
    (void)arg;
    return variables[0];
}

int main(int argc, char **argv, char **envp)
{
    pthread_t a, b;
    (void)argc;
    (void)argv;
    variables = envp;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
