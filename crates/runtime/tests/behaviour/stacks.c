/* Stacks and thread-local memory of ended threads belong to new ones, mapped memory likewise. races:
 * prints: done */
#include "hooks.h"
static _Thread_local int local;
static void *run(void *p)
{
    int here[64];
    for (int i = 0; i < 64; i++)
        W(here[i], i, 1);
    W(local, R(local, 2) + 1, 3);
    int *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    W(page[5], 1, 4);
    munmap(page, 4096);
    __atomic_add_fetch((int *)p, 1, __ATOMIC_SEQ_CST);
    return 0;
}
int main(void)
{
    volatile int ended = 0;
    for (int i = 0; i < 200; i++) {
        pthread_t t;
        pthread_create(&t, 0, run, (void *)&ended);
        pthread_detach(t);
        while (ended <= i)
            sched_yield();
    }
    puts("done");
}
