// Loops over counters of every kind: widths, signs, steps, tests at the top and at the bottom, ways out in the middle, values that
// live on behind them.
#include <stdio.h>

static int calls;
static const short bounds[] = { 2, -3, 0, 0 };

static int step(int n)
{
    calls++;
    return n * 3 + calls;
}

static void counters(void)
{
    int sum = 0;
    for (int i = -3; i < 4; i++)
        sum = sum * 5 + i;
    for (unsigned u = 7; u <= 7; u--)
        sum += (int)u;
    for (unsigned char c = 250; c != 4; c += 2)
        sum = sum * 3 + c;
    for (signed char c = 120; c > 0; c++)
        sum ^= c;
    for (signed char c = -2; c < 3; c++)
        sum = sum * 3 + c;
    for (int i = 254; (unsigned char)i != 3; i++)
        sum = sum * 3 + i;
    for (long long l = 0xfffffffell; (int)l < 3; l++)
        sum = sum * 3 + (int)l;
    for (short s = 0; s < 300; s += 100)
        sum = sum * 7 + s;
    for (long long l = 1; l < 1000; l *= 4)
        sum += (int)l;
    for (unsigned bit = 1u << 4; bit; bit >>= 1)
        sum = (sum << 1) ^ (int)bit;
    for (int i = bounds[0]; i > bounds[1]; i--)
        sum = sum * 3 + i;
    for (int i = bounds[3]; i < 2; i++)
        sum = sum * 3 + i;
    for (int i = 0; i < -1; i++)
        sum = -1;
    printf("counters %d\n", sum);
}

static void values_behind(void)
{
    int a = 0, b = 1, i;
    for (i = 0; i < 6; i++) {
        int next = a + b;
        a = b;
        b = next;
    }
    printf("behind %d %d %d\n", a, b, i);
    int x = 1, y = 2, z = 3, n = 5;
    do {
        int t = x;
        x = y;
        y = z;
        z = t;
    } while (--n);
    printf("turned %d %d %d %d\n", x, y, z, n);
}

static void ways_out(int limit)
{
    int i, last = -1;
    for (i = 0; i < 5; i++) {
        if (step(i) > limit)
            break;
        last = i;
    }
    printf("break at %d after %d\n", i, last);
    int j = 0, seen = 0;
    while (j < 6) {
        j++;
        if (step(j) % 3)
            continue;
        seen += j;
    }
    printf("continue %d %d\n", j, seen);
    int k;
    for (k = 3; k > 0; k--) {
        int inner = step(k);
        if (inner % 7 == limit % 7) {
            printf("inner %d\n", inner);
            goto out;
        }
        if (inner > 1000)
            return;
    }
    printf("no way out\n");
out:
    printf("out at %d\n", k);
}

static int early(int limit)
{
    for (int i = 0; i < 4; i++) {
        int got = step(i);
        for (int j = i; j < 4; j++) {
            if (got + j == limit)
                return i * 10 + j;
            got -= j;
        }
        switch (got & 3) {
        case 0:
            continue;
        case 1:
            got++;
            break;
        default:
            got--;
        }
        if (got < -limit)
            break;
    }
    return -1;
}

static int again(int rounds)
{
    int total = 0;
    for (int r = 0; r < rounds; r++) {
        int found = 0;
        for (int i = 0; i < 3; i++) {
            found = step(i + r);
            if (found % 5 == 0)
                break;
        }
        for (int i = 0; i < 2; i++)
            total = total * 2 + found + i;
    }
    return total;
}

static void squares(int *out)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++)
            for (int k = j; k < 3; k += 2)
                out[i] = out[i] * 10 + k;
}

int main(void)
{
    counters();
    values_behind();
    for (int limit = 0; limit < 24; limit += 5) {
        calls = limit & 3;
        ways_out(limit);
        printf("early %d\n", early(limit));
    }
    printf("again %d %d\n", again(0), again(4));
    int out[3] = { 0 };
    squares(out);
    for (int i = 2; i >= 0; i--)
        printf("square %d\n", out[i]);
    return calls & 0x7f;
}
