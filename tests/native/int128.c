//@ only: LP64
#include <stdio.h>

typedef unsigned __int128 u128;
typedef __int128 i128;

static void show(u128 v)
{
    char text[64];
    int n = 63;
    text[n] = 0;
    do {
        text[--n] = '0' + (int)(v % 10);
        v /= 10;
    } while (v);
    puts(text + n);
}

static u128 mix(u128 a, i128 b)
{
    return a * 31 + (u128)(b >> 3);
}

int main(void)
{
    u128 a = ((u128)0x123456789abcdefull << 64) | 0xfedcba9876543210ull;
    i128 b = -(i128)a / 77;
    show(a);
    show((u128)-b);
    show(a * a);
    show(a >> 70);
    show(a << 13);
    show(mix(a, b));
    printf("%d %d %d\n", b < 0, a > (u128)b, (int)(b % 1000));
    double d = (double)a;
    printf("%.17g %.17g\n", d, (double)b);
    show((u128)1e30);
    u128 array[3] = {1, a, (u128)b};
    u128 sum = 0;
    for (int i = 0; i < 3; i++)
        sum ^= array[i];
    show(sum);
    return 0;
}
