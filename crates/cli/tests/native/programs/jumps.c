#include "race.h"
#include <setjmp.h>
static jmp_buf back;
static void deep(int n)
{
    if (n == 0)
        longjmp(back, 1);
    deep(n - 1);
}
int main(void)
{
    for (int i = 0; i < 1000; i++)
        if (setjmp(back) == 0)
            deep(50);
    race();
    puts("jumped");
    return 0;
}
