//@ static: safe A-EXTNAME
//@ explore: unknown
// The unknown function might be a wrapper of `getenv`, and return a part of the environment.
#include <pthread.h>
#include <stdlib.h>

char *setting(int number);

static void *worker(void *p)
{
    char *text = setting(1);
    if (text)
        text[0] = 'x';
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    setenv("SETTING", "1", 1);
    pthread_join(t, 0);
    return 0;
}
