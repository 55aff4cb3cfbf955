#include <stdio.h>

typedef int v4 __attribute__((vector_size(16)));
typedef float f4 __attribute__((vector_size(16)));
typedef unsigned char b8 __attribute__((vector_size(8)));

static v4 table[2] = {{1, 2, 3, 4}, {10, 20, 30, 40}};

static v4 madd(v4 a, v4 b, int k) { return a * k + b; }

int main(void)
{
    v4 r = madd(table[0], table[1], 3);
    for (int i = 0; i < 4; i++)
        printf("%d ", r[i]);
    v4 mask = r > table[1] + 6;
    printf("| %d %d %d %d\n", mask[0], mask[1], mask[2], mask[3]);
    f4 f = {1.5f, 2.5f, -3.5f, 4};
    f = f * f - 1;
    printf("%g %g %g %g\n", f[0], f[1], f[2], f[3]);
    v4 s = __builtin_shufflevector(r, table[0], 3, 0, 5, 6);
    printf("%d %d %d %d\n", s[0], s[1], s[2], s[3]);
    b8 b = {250, 251, 252, 253, 254, 255, 0, 1};
    b += 10;
    int sum = 0;
    for (int i = 0; i < 8; i++)
        sum += b[i];
    printf("%d\n", sum);
    v4 c = __builtin_convertvector(f, v4);
    c[2] = -c[2] >> 1;
    table[1] = c;
    printf("%d %d %d\n", table[1][0], table[1][2], (c & 3)[3]);
    return 0;
}
