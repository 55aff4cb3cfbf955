#include <stdio.h>

static volatile long double one = 1.0L;

struct pair {
    char c;
    long double v;
};

static long double poly(long double x)
{
    return ((x * 3 - 2) * x + 1) / (x + 7);
}

int main(void)
{
    long double a = one / 3;
    printf("%.20Lf %.15Le %Lg\n", a, a * 1e10L, a);
    printf("%.18Lg\n", poly(1.5L));
    printf("%d %lld %u\n", (int)(a * 10), (long long)(a * 1e18L), (unsigned)(a * 9));
    double d = (double)a;
    float f = (float)a;
    printf("%.17g %.9g %d\n", d, f, d == a);
    struct pair p = {'x', 2.5L}, q = p;
    q.v += p.v;
    printf("%c %Lf\n", q.c, q.v);
    long double sum = 0;
    for (int i = 1; i <= 50; i++)
        sum += one / i;
    printf("%.18Lf\n", sum);
    printf("%d %d %d\n", a < one, a > one, -a == a);
    unsigned long long big = ~0ull;
    printf("%.3Lf\n", (long double)big);
    return 0;
}
