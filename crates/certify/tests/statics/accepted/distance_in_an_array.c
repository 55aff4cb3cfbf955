// The distance of two elements is a number.
#include <pthread.h>

static int values[8];
static long at[2];

static void *worker(void *arg)
{
    int *p = arg;
    at[1] = p - values;
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, worker, &values[3]);
    values[4]++;
    pthread_join(t, NULL);
    return (int)at[1];
}
