#include <stdio.h>
#include <stdint.h>
#include <limits.h>

static volatile int zero;

int main(void)
{
    signed char c = -7;
    unsigned char uc = 250;
    short s = -30000;
    unsigned short us = 65000;
    int i = INT_MIN + 1;
    unsigned u = UINT_MAX - 3;
    long long ll = LLONG_MIN + 5;
    unsigned long long ull = ULLONG_MAX - 9;
    printf("%d %d %d %d %d %u %lld %llu\n", c, uc, s, us, i, u, ll, ull);
    printf("%d %d %d\n", c / 2, c % 2, c >> 1);
    printf("%d %d\n", uc + uc, (unsigned char)(uc + uc));
    printf("%d %d\n", s * 2, (short)(s * 2));
    printf("%d %u\n", i / 7, u / 7);
    printf("%lld %llu\n", ll / 1000003, ull / 1000003);
    printf("%lld %llu\n", ll % 1000003, ull % 1000003);
    printf("%d %d\n", -1 < 1u, (signed char)-1 < (unsigned char)1);
    for (int shift = 0; shift < 32; shift += 5)
        printf("%x %x %d\n", 0x80000001u << shift, 0x80000001u >> shift, (int)0x80000001 >> shift);
    for (int shift = 0; shift < 64; shift += 9)
        printf("%llx %llx %lld\n", 0x8000000000000001ull << shift, 0x8000000000000001ull >> shift,
               (long long)0x8000000000000001ull >> shift);
    printf("%d %d %d\n", __builtin_popcount(0xF0F0u), __builtin_clz(0x00010000u), __builtin_ctz(0x00010000u));
    printf("%d %d %d\n", __builtin_popcountll(0xF0F0F0F0F0ull), __builtin_clzll(1ull << 40), __builtin_ctzll(1ull << 40));
    printf("%x %llx %x\n", __builtin_bswap32(0x12345678), __builtin_bswap64(0x123456789abcdef0ull), __builtin_bswap16(0x1234));
    int out;
    long long wide;
    printf("%d ", __builtin_add_overflow(INT_MAX - 1, 2 + zero, &out));
    printf("%d\n", out);
    printf("%d ", __builtin_mul_overflow(1ll << 40, (1ll << 30) + zero, &wide));
    printf("%lld\n", wide);
    printf("%d ", __builtin_sub_overflow(3u, 4u + zero, (unsigned *)&out));
    printf("%d\n", out);
    _Bool b = 42;
    b += 5;
    printf("%d %d\n", b, !b);
    enum colour { RED = -1, GREEN = 7 } colour = GREEN;
    printf("%d %d\n", colour, colour == RED);
    printf("%d\n", (int8_t)0x80 + (uint8_t)0x80);
    return (uint8_t)(u ^ i) % 100;
}
