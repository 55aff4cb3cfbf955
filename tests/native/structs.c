#include <stdio.h>
#include <stddef.h>
#include <string.h>

struct small { char a; short b; };
struct medium { int x, y, z; };
struct large { double d[4]; char tail; };
struct mixed { float f; int i; double d; };
struct nested { struct small s; union { int i; float f; unsigned char bytes[4]; } u; struct { int deep; } inner; };
struct flex { int n; int data[]; };

static struct small make_small(char a, short b) { struct small s = {a, b}; return s; }
static struct medium make_medium(int k) { return (struct medium){k, k * 2, k * 3}; }
static struct large make_large(double k) { struct large l = {{k, k + 1, k + 2, k + 3}, 't'}; return l; }
static struct mixed make_mixed(int k) { return (struct mixed){k + 0.5f, k, k * 0.25}; }
static int sum_medium(struct medium m) { m.x++; return m.x + m.y + m.z; }
static double sum_large(struct large l, int i) { l.d[0] = 100; return l.d[i] + l.d[0] + l.tail; }
static double sum_mixed(int a, struct mixed m, double b) { return a + m.f + m.i + m.d + b; }

int main(void)
{
    struct small s = make_small('q', -5);
    struct medium m = make_medium(11);
    struct large l = make_large(1.5), copy;
    struct mixed x = make_mixed(3);
    copy = l;
    printf("%c %d %d %d\n", s.a, s.b, sum_medium(m), m.x);
    printf("%g %g %g\n", sum_large(l, 2), l.d[0], copy.d[3]);
    printf("%g\n", sum_mixed(1, x, 2));
    struct nested n;
    memset(&n, 0, sizeof n);
    n.u.f = 1.0f;
    n.inner.deep = 9;
    n.s = s;
    printf("%x %d %d %d %d\n", n.u.i, n.u.bytes[3], n.inner.deep, n.s.b, (int)offsetof(struct nested, u));
    struct nested array[3] = {[1] = {.s = {'z', 4}, .u.i = 77}, [2].inner.deep = 5};
    struct nested *p = array;
    p++;
    printf("%c %d %d %d\n", p->s.a, p->u.i, p[1].inner.deep, (int)(&array[2] - p));
    char raw[sizeof(struct flex) + 3 * sizeof(int)] __attribute__((aligned(8)));
    struct flex *f = (struct flex *)raw;
    f->n = 3;
    for (int i = 0; i < f->n; i++)
        f->data[i] = i * i;
    printf("%d %d\n", f->data[2], (int)sizeof(struct flex));
    struct { unsigned a : 3; signed b : 5; unsigned c : 11; unsigned : 0; unsigned d : 1; } bits = {9, -3, 2047, 1};
    bits.a += 7;
    bits.b -= 14;
    bits.c++;
    bits.d ^= 1;
    printf("%u %d %u %u %d\n", bits.a, bits.b, bits.c, bits.d, (int)sizeof bits);
    struct { long long big : 40; unsigned long long rest : 24; } wide = {-5, 0xabcdef};
    wide.big *= 1000000;
    printf("%lld %llx\n", (long long)wide.big, (unsigned long long)wide.rest);
    int (*table[2])(struct medium) = {sum_medium, sum_medium};
    printf("%d\n", table[1]((struct medium){1, 2, 3}));
    return 0;
}
