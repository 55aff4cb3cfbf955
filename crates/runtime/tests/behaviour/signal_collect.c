/* Signals that come while the runtime collects what it does not need any more: their handlers do not wait for that.
 * prints: done */
#include "hooks.h"
enum { BYTES = 8 << 20, RELEASES = 5 << 20 };
void __raddle_write_n(void *, uint64_t, uint32_t);
static int cell, other;
static atomic_int hits;
static void handle(int number)
{
    W(other, number, 1);
    hits++;
}
int main(void)
{
    char *many = malloc(BYTES);
    __raddle_write_n(many, BYTES, 2);
    signal(SIGALRM, handle);
    ualarm(500, 200);
    for (int i = 0; i < RELEASES; i++) {
        W(cell, i, 3);
        RADDLE_RELEASE(&cell);
    }
    ualarm(0, 0);
    puts(hits ? "done" : "no signal came");
}
