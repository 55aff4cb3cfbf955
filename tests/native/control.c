#include <stdio.h>

static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

static int interpret(const char *code)
{
    static void *table[] = {&&inc, &&dec, &&twice, &&stop};
    int value = 0;
#define NEXT goto *table[*code++ - '0']
    NEXT;
inc:
    value++;
    NEXT;
dec:
    value--;
    NEXT;
twice:
    value *= 2;
    NEXT;
stop:
    return value;
}

static int classify(long long v)
{
    switch (v) {
    case -5: return 1;
    case 0 ... 9: return 2;
    case 1000000000000ll: return 3;
    case 42:
    case 43: v++; /* fall through */
    case 45: return (int)v;
    default: return -1;
    }
}

static int duff(int count)
{
    int total = 0, n = (count + 3) / 4;
    switch (count % 4) {
    case 0: do { total += 1;
    case 3:      total += 10;
    case 2:      total += 100;
    case 1:      total += 1000;
            } while (--n > 0);
    }
    return total;
}

static int vla(int n)
{
    int total = 0;
    for (int round = 1; round <= n; round++) {
        int square[round][round];
        for (int i = 0; i < round; i++)
            for (int j = 0; j < round; j++)
                square[i][j] = i * j + round;
        total += square[round - 1][round / 2] + (int)sizeof square;
    }
    return total;
}

static int counter(void)
{
    static int calls = 100;
    return ++calls;
}

int main(void)
{
    printf("%d\n", fib(20));
    printf("%d\n", interpret("00212003"));
    printf("%d %d %d %d %d %d\n", classify(-5), classify(7), classify(1000000000000ll), classify(42), classify(45), classify(77));
    printf("%d %d %d\n", duff(7), duff(8), duff(1));
    printf("%d\n", vla(9));
    counter();
    counter();
    printf("%d\n", counter());
    int i = 0;
again:
    if (i < 3) {
        i++;
        goto again;
    }
    int x = 5, y = (x++, x * 2);
    printf("%d %d %d %d\n", i, x, y, x > 3 && y < 3 || !x);
    for (int a = 0, b = 10;; a++, b--) {
        if (a == 2)
            continue;
        if (a >= b)
            break;
        printf("%d:%d ", a, b);
    }
    printf("\n");
    int (*pick)(int) = x ? fib : duff;
    printf("%d\n", pick(9));
    return x + y;
}
