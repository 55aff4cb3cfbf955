/* A thread is held up after it has changed a cell and before it has stored the context: the page of contexts cannot be written for a while.
 * Who comes meanwhile waits, and takes neither nothing (a) nor the word of an earlier access with the same six bits of the epoch (b) for the
 * context; nor does it give up soon if that has others (c).
 * races: 3-4 6-7 9-10
 * prints: held held held */
#include "hooks.h"
#include <sys/syscall.h>
enum { PAGE = 4096, INTS = PAGE / sizeof(int) };
int __sigaction(int, const struct sigaction *, struct sigaction *); /* not the one that the runtime sees */
const uint32_t *__raddle_block(void);
static _Alignas(PAGE) int a[INTS], b[INTS], c[INTS], own[INTS], *next;
static volatile int held;
static uint32_t bits(void)
{
    return *__raddle_block() * 0x9e3779b1u >> 26;
}
static void protect(int *page, int how)
{
    syscall(SYS_mprotect, 0x300003579000ull + ((uintptr_t)page & 0xfffffffffff), PAGE, how);
}
static void hold_up(int number, siginfo_t *info, void *context)
{
    struct timespec time = {0, 300000000};
    held = 1;
    syscall(SYS_nanosleep, &time, 0);
    protect(next, PROT_READ | PROT_WRITE);
}
struct run {
    int *page, site;
    uint32_t bits;
};
static void *first(void *p)
{
    struct run *run = p;
    while (bits() != run->bits) {
        W(own[1], 1, 1);
        RADDLE_RELEASE(&own);
    }
    /* So that hot.c knows the context. */
    W(own[2], 1, run->site);
    next = run->page;
    protect(next, PROT_READ);
    W(run->page[0], 1, run->site);
    return 0;
}
static void *second(void *p)
{
    struct run *run = p;
    later(&held);
    W(run->page[0], 2, run->site + 1);
    return 0;
}
static void both(int *page, int site, uint32_t bits)
{
    struct run run = {page, site, bits};
    pthread_t threads[2];
    held = 0;
    pthread_create(&threads[0], 0, first, &run);
    pthread_create(&threads[1], 0, second, &run);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    puts(held ? "held" : "not held");
}
int main(void)
{
    struct sigaction action = {.sa_sigaction = hold_up, .sa_flags = SA_SIGINFO};
    __sigaction(SIGSEGV, &action, 0);
    both(a, 3, 0);
    uint32_t before = bits();
    W(b[0], 1, 5);
    both(b, 6, before);
    before = bits();
    W(c[0], 1, 8);
    both(c, 9, before ^ 1);
}
