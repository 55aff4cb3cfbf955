/* A mapping is moved away by its thread, and another thread moves one of its own to the same place: other memory.
 * races:
 * prints: moved */
#include "hooks.h"
enum { N = 4096 };
static int *volatile free_place;
static volatile int done, ready;
static int *map(void)
{
    return mmap(0, N, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
static void *run(void *p)
{
    int *mine = map();
    /* The C library maps what it needs before the place is free. */
    free(malloc(1));
    ready = 1;
    while (!free_place)
        sched_yield();
    int *there = mremap(mine, N, N, MREMAP_MAYMOVE | MREMAP_FIXED, free_place);
    puts(there == free_place ? "moved" : "not moved");
    W(there[3], 1, 2);
    done = 1;
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    int *first = map(), *other = map();
    W(first[3], 1, 1);
    later(&ready);
    mremap(first, N, N, MREMAP_MAYMOVE | MREMAP_FIXED, other);
    free_place = first;
    later(&done);
    pthread_join(t, 0);
}
