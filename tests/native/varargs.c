#include <stdio.h>
#include <stdarg.h>

struct point { int x, y; };
struct blob { char text[40]; };

static long sum(int n, ...)
{
    va_list list, again;
    va_start(list, n);
    va_copy(again, list);
    long total = 0;
    for (int i = 0; i < n; i++)
        total += va_arg(list, int);
    for (int i = 0; i < n; i++)
        total += 10L * va_arg(again, int);
    va_end(again);
    va_end(list);
    return total;
}

static void show(const char *kinds, ...)
{
    va_list list;
    va_start(list, kinds);
    for (; *kinds; kinds++) {
        switch (*kinds) {
        case 'i': printf("%d ", va_arg(list, int)); break;
        case 'l': printf("%lld ", va_arg(list, long long)); break;
        case 'd': printf("%g ", va_arg(list, double)); break;
        case 'D': printf("%Lg ", va_arg(list, long double)); break;
        case 's': printf("%s ", va_arg(list, char *)); break;
        case 'p': { struct point p = va_arg(list, struct point); printf("(%d,%d) ", p.x, p.y); break; }
        case 'b': { struct blob b = va_arg(list, struct blob); printf("[%s] ", b.text); break; }
        }
    }
    va_end(list);
    printf("\n");
}

static int forward(char *buffer, int size, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(buffer, size, format, list);
    va_end(list);
    return n;
}

int main(void)
{
    printf("%ld %ld\n", sum(3, 1, 2, 3), sum(9, 1, 2, 3, 4, 5, 6, 7, 8, 9));
    struct point p = {3, 4};
    struct blob b = {"hello blob"};
    show("idlsDpbi", 1, 2.5, 1ll << 40, "str", 1.25L, p, b, -9);
    show("dddddddddddd", 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12.);
    char buffer[32];
    int n = forward(buffer, sizeof buffer, "%s-%05d-%c-%.2f-%lld", "abc", 42, 'z', 1.005, -1ll);
    printf("%d %s\n", n, buffer);
    n = forward(buffer, 8, "%s", "a long string that is cut");
    printf("%d %s\n", n, buffer);
    return 0;
}
