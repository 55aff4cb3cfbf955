#include <stdio.h>

__asm__(".globl from_asm\nfrom_asm: movl $7, %eax\nret\n");
int from_asm(void);

static int add(int a, int b)
{
    int sum;
    __asm__ volatile("addl %2, %0" : "=r"(sum) : "0"(a), "r"(b));
    return sum;
}

int main(void)
{
    printf("%d %d\n", add(2, 3), from_asm());
    return 0;
}
