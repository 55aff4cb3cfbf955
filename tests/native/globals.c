#include <stdio.h>

struct entry { const char *name; int (*run)(int); struct entry *next; long pad; };

static int inc(int x) { return x + 1; }
static int neg(int x) { return -x; }
extern struct entry second;
static struct entry first = {"first", inc, &second, 1};
struct entry second = {"second", neg, 0, 2};
static const int primes[] = {2, 3, 5, 7, 11};
static const int *const pick = &primes[3];
static union { float f; unsigned u; } pun = {.f = 1.0f};
static char text[10] = "abc";
static int tentative;
static __thread int local = 4;
static long long sums[3] = {[2] = -7};

__attribute__((constructor)) static void early(void) { tentative = 30; }
__attribute__((destructor)) static void late(void) { printf("late %d\n", tentative); }

int main(void)
{
    int v = 10;
    for (struct entry *e = &first; e; e = e->next)
        printf("%s %d %ld\n", e->name, v = e->run(v), e->pad);
    printf("%d %x %s %d %d\n", *pick, pun.u, text, text[9], (int)sizeof text);
    tentative += ++local;
    printf("%d %d %lld\n", tentative, local, sums[2] + sums[1]);
    printf("%s %d\n", __func__, (int)sizeof "literal");
    return v & 0xff;
}
