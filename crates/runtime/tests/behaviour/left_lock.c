/* A lock function of the program's own that is left by longjmp, and one inside another.
 * races: 1-2 3-4
 * prints: done */
#include "hooks.h"
uint32_t __raddle_own_begin(void *, uint32_t, uint32_t);
void __raddle_own_end(uint32_t), __raddle_again(struct raddle_frame *);
static jmp_buf back;
static int x, y, inside;
static volatile int go, done;
static void deep(int n)
{
    FUNCTION(30);
    if (n)
        deep(n - 1);
    else
        W(x, 2, 2);
}
static void jumps(void)
{
    FUNCTION(31);
    __raddle_own_begin(&inside, 0, 0);
    W(inside, 1, 8);
    longjmp(back, 1);
}
static void holds_another(void)
{
    uint32_t depth = __raddle_own_begin(&inside, 0, 0);
    if (!setjmp(back))
        jumps();
    W(inside, 1, 9);
    __raddle_own_end(depth);
}
static void *run(void *p)
{
    later(&go);
    W(inside, 2, 7);
    W(x, 1, 1);
    W(y, 1, 3);
    done = 1;
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    struct raddle_frame *frame = __raddle_enter(32);
    if (setjmp(back) == 0)
        jumps();
    __raddle_again(frame);
    deep(5);
    holds_another();
    W(y, 2, 4);
    __raddle_exit(frame);
    go = 1;
    later(&done);
    pthread_join(t, 0);
    puts("done");
}
