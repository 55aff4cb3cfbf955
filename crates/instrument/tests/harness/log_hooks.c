/* Hooks for tests: which bytes of `memory` are read and written in which region. A region ends where threads may synchronise. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 1 << 14 };
extern char memory[] __attribute__((weak));
static unsigned char touched[BYTES]; /* 1 read, 2 written */
static unsigned region;
static long lowest = BYTES, highest;

struct raddle_frame { uint32_t function; uint32_t call; };
static _Thread_local struct raddle_frame frames[10000];
static _Thread_local long depth;
static long deepest;

static void touch(const void *p, uint64_t bytes, int kind) {
    if (!memory) return;
    for (uint64_t i = 0; i < bytes; i++) {
        long at = (const char *)p + i - memory;
        if (at < 0 || at >= BYTES) continue;
        touched[at] |= kind;
        if (at < lowest) lowest = at;
        if (at >= highest) highest = at + 1;
    }
}

/* One line for each run of equal bytes: region, first, end, kind. Reads of written bytes do not show. */
void sync_point(void) {
    long i = lowest;
    while (i < highest) {
        int kind = touched[i] & 2 ? 2 : touched[i];
        long end = i + 1;
        while (end < highest && (touched[end] & 2 ? 2 : touched[end]) == kind) end++;
        if (kind) printf("@%u %ld %ld %c\n", region, i, end, kind == 2 ? 'w' : 'r');
        i = end;
    }
    for (i = lowest; i < highest; i++) touched[i] = 0;
    lowest = BYTES, highest = 0;
    region++;
}

__attribute__((destructor)) static void last(void) {
    sync_point();
    if (depth) printf("@stack off by %ld\n", depth);
    if (getenv("DEEPEST")) printf("@deepest %ld\n", deepest);
}

#define SIZED(n) \
    void __raddle_read##n(const void *p, uint32_t site) { touch(p, n, 1); } \
    void __raddle_write##n(void *p, uint32_t site) { touch(p, n, 2); }
SIZED(1) SIZED(2) SIZED(4) SIZED(8) SIZED(16)
void __raddle_read_n(const void *p, uint64_t n, uint32_t site) { touch(p, n, 1); }
void __raddle_write_n(void *p, uint64_t n, uint32_t site) { touch(p, n, 2); }
static void walk(const char *p, int64_t stride, uint64_t count, uint32_t size, int kind) {
    if (count > 1000000) { printf("@walk of %llu\n", (unsigned long long)count); return; }
    for (uint64_t i = 0; i < count; i++) touch(p + (int64_t)i * stride, size, kind);
}
void __raddle_read_walk(const void *p, int64_t stride, uint64_t count, uint32_t size, uint32_t site) { walk(p, stride, count, size, 1); }
void __raddle_write_walk(void *p, int64_t stride, uint64_t count, uint32_t size, uint32_t site) { walk(p, stride, count, size, 2); }

struct raddle_frame *__raddle_enter(uint32_t site) {
    if (++depth > deepest) deepest = depth;
    return frames + depth - 1;
}
void __raddle_exit(struct raddle_frame *old) { depth = old - frames; }
void __raddle_again(struct raddle_frame *old) { depth = old + 1 - frames; }
void __raddle_call(uint32_t site) {}

void *__raddle_atomic_enter(void *p, uint32_t size, uint32_t kind, uint32_t order, uint32_t failure, uint32_t site) { sync_point(); return p; }
void __raddle_atomic_leave(void *token, uint32_t succeeded) {}
void __raddle_fence(uint32_t order, uint32_t site) { sync_point(); }
void __raddle_loop_begin(void *cond, void *mutex, uint32_t site) {}
void __raddle_loop_end(uint32_t site) {}
void __raddle_start(void) {}
