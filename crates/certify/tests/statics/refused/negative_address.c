// A pointer kept as a number in an array of numbers, and made a pointer again.
#include <pthread.h>
#include <stdint.h>
#include <string.h>

static int counter;
static struct {
    char pad[3];
    char bytes[64];
} store;

static void put(unsigned long at, int *p)
{
    memcpy(store.bytes + at, &p, sizeof p);
}

static int *get(unsigned long at)
{
    uintptr_t number;
    memcpy(&number, store.bytes + at, sizeof number);
    return (int *)((number ^ 1) ^ 1);
}

static void *worker(void *arg)
{
    (*get((unsigned long)arg))++;
    return NULL;
}

int main(int argc, char **argv)
{
    (void)argv;
    pthread_t t;
    unsigned long at = (unsigned long)argc;
    put(at, &counter);
    pthread_create(&t, NULL, worker, (void *)at);
    counter++;
    pthread_join(t, NULL);
    return 0;
}
