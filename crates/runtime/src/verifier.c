/* What verification tasks call and nobody defines, for programs that run under control. A program's own definitions come first. */
#include <stdint.h>
#include <stdlib.h>

extern uint64_t __raddle_choose(uint32_t variants);
extern void __raddle_section(int enter);
extern void __raddle_assumption_failed(void);

#define WEAK __attribute__((weak))
#define INTEGER(name, type) WEAK type __VERIFIER_nondet_##name(void) { return (type)__raddle_choose(2); }

INTEGER(bool, _Bool)
INTEGER(_Bool, _Bool)
INTEGER(char, char)
INTEGER(uchar, unsigned char)
INTEGER(unsigned_char, unsigned char)
INTEGER(u8, uint8_t)
INTEGER(s8, int8_t)
INTEGER(short, short)
INTEGER(ushort, unsigned short)
INTEGER(unsigned_short, unsigned short)
INTEGER(u16, uint16_t)
INTEGER(s16, int16_t)
INTEGER(int, int)
INTEGER(uint, unsigned)
INTEGER(unsigned, unsigned)
INTEGER(unsigned_int, unsigned)
INTEGER(u32, uint32_t)
INTEGER(s32, int32_t)
INTEGER(long, long)
INTEGER(ulong, unsigned long)
INTEGER(unsigned_long, unsigned long)
INTEGER(longlong, long long)
INTEGER(long_long, long long)
INTEGER(ulonglong, unsigned long long)
INTEGER(unsigned_long_long, unsigned long long)
INTEGER(u64, uint64_t)
INTEGER(s64, int64_t)
INTEGER(int128, __int128)
INTEGER(uint128, unsigned __int128)
INTEGER(size_t, uint64_t)
INTEGER(ssize_t, int64_t)
INTEGER(loff_t, int64_t)
INTEGER(off_t, int64_t)
INTEGER(sector_t, uint64_t)
INTEGER(pthread_t, uint64_t)

WEAK float __VERIFIER_nondet_float(void)
{
    union { uint32_t bits; float value; } word = {.bits = (uint32_t)__raddle_choose(2)};
    return word.value;
}

WEAK double __VERIFIER_nondet_double(void)
{
    union { uint64_t bits; double value; } word = {.bits = __raddle_choose(2)};
    return word.value;
}

#define POINTER(name) WEAK void *__VERIFIER_nondet_##name(void) { return __raddle_choose(2) ? calloc(1, 64) : 0; }
POINTER(pointer)
POINTER(pchar)
POINTER(charp)
POINTER(const_char_pointer)

WEAK void __VERIFIER_atomic_begin(void) { __raddle_section(1); }
WEAK void __VERIFIER_atomic_end(void) { __raddle_section(0); }
WEAK void __VERIFIER_assume(int holds)
{
    if (!holds)
        __raddle_assumption_failed();
}
WEAK void __VERIFIER_assert(int holds)
{
    if (!holds)
        abort();
}
WEAK void __VERIFIER_error(void) { abort(); }
WEAK void reach_error(void) { abort(); }
