/* The part of Raddle's runtime that is compiled into the program: the tests that nearly every access ends in, the shadow stack.
 *
 * Linked as bitcode into the instrumented module and inlined there; what is not decided here goes to the Rust part. Compile with
 * -DRADDLE_SHARED for shared libraries, which use the thread block of the executable. Addresses and layouts are those of layout.rs
 * and block.rs (a test in block.rs compares them). */
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

struct raddle_cell {
    uint32_t write, read;
};

struct raddle_frame {
    uint32_t function; /* site of the function's first instruction, or 0 */
    uint32_t call;     /* site of the call being made */
    uint32_t node;     /* the frame's place in the tree of contexts, when it was needed */
    uint32_t unused;
};

struct raddle_context {
    uint32_t site, node, shape, id;
};

struct raddle_node {
    uint32_t parent, call, function, id;
};

/* An atomic access between enter and leave that takes no lock; more than one only in signal handlers. */
struct raddle_pending {
    struct raddle_record *record;
    void *p;
    uint32_t version, size, kind, order, site, unused;
};

/* An atomic access that needed nothing, and will as long as epoch and record are the same. */
struct raddle_quick {
    void *p;
    struct raddle_record *record;
    uint64_t state; /* of the record, free */
    uint32_t epoch;
    uint32_t what; /* size, kind, order, order of failure */
    uint32_t site;
    uint32_t seen; /* for a recorder: RADDLE_TAG with the writer when it was told last, or 0 */
};

#define RADDLE_QUICK 16
#define RADDLE_SHORT_CONTEXTS 8192
#define RADDLE_SHORT_NODES 2048
#define RADDLE_SPARES 15
#define RADDLE_ROOM 6

struct raddle_thread {
    uint32_t epoch;
    uint32_t flags; /* 0: steps may be made here; RADDLE_OBSERVED: somebody wants to see them; RADDLE_UNKNOWN */
    struct raddle_frame *top;
    struct raddle_frame *limit;
    uint32_t known[64]; /* sets of readers known to hold this epoch, by their low bits */
    /* Parts of the thread's record in Rust, if the runtime knows the thread. */
    uint32_t *inside;
    uint8_t *used;
    uint32_t *values;
    uint64_t last[16]; /* addresses, by site, to notice loops */
    uint32_t fenced;   /* the thread made a release fence */
    uint32_t depth;
    uint32_t owner; /* as which the thread locks records */
    uint32_t phase; /* how often it took a lock more in this epoch (contexts.rs) */
    struct raddle_pending pending[4];
    struct raddle_quick quick[RADDLE_QUICK]; /* by address */
    const struct raddle_context *contexts; /* what was needed lately */
    const struct raddle_node *nodes;
    uint32_t spares[RADDLE_SPARES]; /* records of mixed bytes that no cell names; only for who is not in a signal handler */
    uint32_t spare_count;
};

/* Consecutive values of one thread's clock (epochs.rs). */
struct raddle_run {
    uint32_t slot, first, thread, next;
};

/* The accesses to a granule for which a cell is not enough (mixed.rs): epoch, and above it context, bytes, whether it is a write. */
struct raddle_mixed {
    uint32_t lock, life;
    uint64_t entries[RADDLE_ROOM];
    uint32_t more, unused;
};

/* Records of atomics (records.rs): clocks, groups of bytes with the same history. */
struct raddle_clock {
    uint32_t *data;
    uint32_t len, capacity, from_slot, from_clock;
};

struct raddle_group {
    uint8_t bytes;
    uint32_t wrote, wrote_context, read, read_context; /* plainly */
    struct raddle_clock message;
    uint64_t entries[6]; /* as in raddle_mixed */
    uint32_t rest[4];
};

struct raddle_record {
    uint32_t lock, version;
    uint64_t unit;
    struct raddle_group groups[2];
    void *more;
    uint32_t writer; /* while somebody records: the epoch of the last write without the lock */
    uint32_t unused;
};

#define RADDLE_OBSERVED 1u
#define RADDLE_UNKNOWN 2u
#define RADDLE_APART 4u
#define RADDLE_CELLS 0x100000000000ull
#define RADDLE_CONTEXTS 0x300003579000ull
#define RADDLE_CONTEXTS_APART 0x10000125b000ull
#define RADDLE_CONTEXT(p, write) ((uint32_t *)(RADDLE_CONTEXTS + ((write) ? 0 : RADDLE_CONTEXTS_APART) + ((uint64_t)(p) & RADDLE_MASK)))
#define RADDLE_TOUCHED(p) (*(const uint8_t *)(0x680400000000ull + ((uint64_t)(p) & RADDLE_MASK) / 2048)) /* the page of cells */
#define RADDLE_PRESENCE(p) (*(const uint8_t *)(0x680100000000ull + ((uint64_t)(p) & RADDLE_MASK) / 4096))
#define RADDLE_HAS_RECORDS 2
#define RADDLE_WHOLE (15ull << 33) /* all bytes, in an entry */
#define RADDLE_RUNS ((const struct raddle_run *)0x690000000000ull)
#define RADDLE_RUN 1024
#define RADDLE_MIXED ((const struct raddle_mixed *)(0x690000000000ull + 5 * 0x1000000000ull))
#define RADDLE_ATOMIC 0x40000000u
#define RADDLE_RECORDS ((struct raddle_record *)(0x690000000000ull + 6 * 0x1000000000ull))
#define RADDLE_TAG 0x80000000u
#define RADDLE_MASK 0xffffffffffcull
#define RADDLE_SHADOW(base, p) ((base) + (((uint64_t)(p) & RADDLE_MASK) << 1))
#define RADDLE_CELL(p) ((const struct raddle_cell *)RADDLE_SHADOW(RADDLE_CELLS, p))
#define RADDLE_INLINE __attribute__((always_inline, visibility("hidden")))
#define RADDLE_SLOW static __attribute__((noinline, preserve_most))
#define RADDLE_LIKELY(x) __builtin_expect(!!(x), 1)

#ifdef RADDLE_SHARED
extern _Thread_local struct raddle_thread __raddle_self __attribute__((tls_model("initial-exec")));
#else
/* The runtime starts before everything else, also before functions of the program in the same section: assembly of a module comes before
   its variables, and this object before others in the link. */
__asm__(".pushsection .preinit_array, \"aw\", @preinit_array\n"
        ".quad __raddle_start\n"
        ".popsection\n");
/* Where threads write that the runtime does not know yet. */
static struct raddle_frame raddle_nowhere[2];
__attribute__((visibility("default"), tls_model("initial-exec"))) _Thread_local struct raddle_thread __raddle_self = {
    .epoch = 0xffffffffu, .flags = RADDLE_UNKNOWN, .top = raddle_nowhere, .limit = raddle_nowhere, .known = {[0 ... 63] = 0xffffffffu}};

__attribute__((visibility("default"))) struct raddle_thread *__raddle_block(void)
{
    return &__raddle_self;
}
#endif

extern void __raddle_slow_read(const void *p, uint64_t bytes, uint32_t site);
extern void __raddle_slow_write(void *p, uint64_t bytes, uint32_t site);

/* Somebody wants to be alone in the runtime (gate.rs). */
extern uint8_t __raddle_careful;
/* Waits until nobody wants to, of a thread that has gone in. */
extern void __raddle_wait_outside(void);

RADDLE_SLOW void raddle_write_harder(void *p, uint64_t bytes, uint32_t site)
{
    __raddle_slow_write(p, bytes, site);
}

RADDLE_SLOW void raddle_read_harder(const void *p, uint64_t bytes, uint32_t site)
{
    __raddle_slow_read(p, bytes, site);
}

static inline __attribute__((always_inline)) uint32_t raddle_load(const uint32_t *p)
{
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static inline __attribute__((always_inline)) int raddle_knows(uint32_t epoch)
{
    const struct raddle_run *run = &RADDLE_RUNS[epoch / RADDLE_RUN];
    return __raddle_self.values[run->slot] >= run->first + epoch % RADDLE_RUN;
}

/* Whether a cell holds only epochs that the thread knows. */
static inline __attribute__((always_inline)) int raddle_knows_all(uint64_t cell)
{
    return !(cell & (RADDLE_TAG | (uint64_t)RADDLE_TAG << 32)) && raddle_knows((uint32_t)cell) && raddle_knows((uint32_t)(cell >> 32));
}

/* The cell after an access, if it holds only epochs that the thread knows; 0 if not. As cells::simple. */
static inline __attribute__((always_inline)) uint64_t raddle_next(uint64_t old, int write)
{
    uint32_t epoch = __raddle_self.epoch;
    if ((uint32_t)old == epoch || (!write && old >> 32 == epoch))
        return old;
    if (!raddle_knows_all(old))
        return 0;
    return write ? epoch : ((uint32_t)old | (uint64_t)epoch << 32);
}

static inline __attribute__((always_inline)) void raddle_fetch(uint64_t p, uint32_t site, int write)
{
    uint64_t *last = &__raddle_self.last[site % 16], step = p - *last;
    *last = p;
    __builtin_prefetch(RADDLE_CONTEXT(p, write), 1);
    /* What the program is about to load would otherwise have to wait until the locked instruction is done. */
    __builtin_prefetch((void *)p);
    if (step + 64 <= 128) {
        __builtin_prefetch((void *)RADDLE_SHADOW(RADDLE_CELLS, p + step * 64), 1);
        __builtin_prefetch(RADDLE_CONTEXT(p + step * 64, write), 1);
    }
}

/* The node of a frame, if it was needed lately; 0 if not. */
RADDLE_SLOW uint32_t raddle_node_of(struct raddle_frame *frame)
{
    if (frame->node || !frame->function)
        return frame->node;
    uint32_t parent = raddle_node_of(frame - 1), call = frame[-1].call;
    const struct raddle_node *node =
        &__raddle_self.nodes[(frame->function + call + (parent * 0x9e3779b1u >> 21)) % RADDLE_SHORT_NODES];
    if ((!parent && frame[-1].function) || node->parent != parent || node->call != call || node->function != frame->function)
        return 0;
    return frame->node = node->id;
}

/* The context of an access, if it was needed lately; 0 if not. */
static inline __attribute__((always_inline)) uint32_t raddle_context_of(uint32_t site, uint32_t shape)
{
    struct raddle_frame *top = __raddle_self.top;
    uint32_t node = top->node;
    if (!node && top->function && !(node = raddle_node_of(top)))
        return 0;
    const struct raddle_context *context = &__raddle_self.contexts[(site + (node * 0x9e3779b1u >> 19) + shape * 181) % RADDLE_SHORT_CONTEXTS];
    if (context->site != site || context->node != node || context->shape != shape)
        return 0;
    return context->id << 2 | __raddle_self.phase;
}

/* What is stored next to a cell that the thread changes. */
static inline __attribute__((always_inline)) uint32_t raddle_word(uint32_t context)
{
    return context << 6 | __raddle_self.epoch * 0x9e3779b1u >> 26;
}

static inline __attribute__((always_inline)) int raddle_go_in(void)
{
    ++*(volatile uint32_t *)__raddle_self.inside;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return RADDLE_LIKELY(!*(volatile uint8_t *)&__raddle_careful);
}

static inline __attribute__((always_inline)) void raddle_go_out(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    --*(volatile uint32_t *)__raddle_self.inside;
}

/* Whether the word of context at this place could be taken for the one to come, while that is not stored: flights.rs is for these. */
static inline __attribute__((always_inline)) int raddle_misleads(const uint32_t *place, uint32_t word)
{
    uint32_t old = raddle_load(place);
    return !((old ^ word) & 63) && old != word;
}

/* One cell, of which the whole granule is accessed: what cells::granule does. 0: not done. */
static inline __attribute__((always_inline)) int raddle_step4(uint64_t p, uint32_t context, int write)
{
    uint64_t *cell = (uint64_t *)RADDLE_CELL(p), old = __atomic_load_n(cell, __ATOMIC_ACQUIRE), new = raddle_next(old, write);
    if (!new || (!old && !RADDLE_TOUCHED(p)))
        return 0;
    uint32_t *place = RADDLE_CONTEXT(p, write), word = raddle_word(context);
    if (raddle_misleads(place, word))
        return 0;
    *__raddle_self.used = 1;
    if (!__atomic_compare_exchange_n(cell, &old, new, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return 0;
    __atomic_store_n(place, word, __ATOMIC_RELAXED);
    return 1;
}

/* Two cells in one step: what cells::pair does. 0: not done. */
static inline __attribute__((always_inline, target("cx16"))) int raddle_step8(uint64_t p, uint32_t context, int write)
{
    uint64_t *cells = (uint64_t *)RADDLE_CELL(p);
    uint64_t old = __atomic_load_n(cells, __ATOMIC_ACQUIRE), new = raddle_next(old, write);
    uint64_t second = __atomic_load_n(cells + 1, __ATOMIC_ACQUIRE), next = raddle_next(second, write);
    if (!new || !next || ((!old || !second) && !RADDLE_TOUCHED(p)))
        return 0;
    uint32_t *words = RADDLE_CONTEXT(p, write), word = raddle_word(context);
    if ((new != old && raddle_misleads(words, word)) || (next != second && raddle_misleads(words + 1, word)))
        return 0;
    *__raddle_self.used = 1;
    unsigned __int128 both = old | (unsigned __int128)second << 64, after = new | (unsigned __int128)next << 64;
    if (!__sync_bool_compare_and_swap((unsigned __int128 *)cells, both, after))
        return 0;
    if (new != old)
        __atomic_store_n(words, word, __ATOMIC_RELAXED);
    if (next != second)
        __atomic_store_n(words + 1, word, __ATOMIC_RELAXED);
    return 1;
}

/* An access as records list it. */
static inline __attribute__((always_inline)) uint64_t raddle_entry(uint32_t mask, uint32_t context, int write)
{
    return __raddle_self.epoch | (uint64_t)(context << 6 | mask << 1 | write) << 32;
}

/* Whether the record of a granule says that the thread did this to some of its bytes in this epoch. Only the thread itself writes
 * its epoch anywhere; the record may have gone to another granule, which its life would tell. */
static inline __attribute__((always_inline)) int raddle_mixed_passes(uint64_t p, uint32_t mask, int write)
{
    const struct raddle_cell *cell = RADDLE_CELL(p);
    uint32_t word = __atomic_load_n(&cell->write, __ATOMIC_ACQUIRE), epoch = __raddle_self.epoch;
    if ((word & (RADDLE_TAG | RADDLE_ATOMIC)) != RADDLE_TAG)
        return 0;
    const struct raddle_mixed *record = &RADDLE_MIXED[word & ~RADDLE_TAG];
    uint32_t life = __atomic_load_n(&record->life, __ATOMIC_ACQUIRE), noted = 0;
    for (int i = 0; i < RADDLE_ROOM; i++) {
        uint64_t entry = __atomic_load_n(&record->entries[i], __ATOMIC_ACQUIRE);
        if ((uint32_t)entry == epoch && (!write || (entry >> 32 & 1)))
            noted |= (uint32_t)(entry >> 33);
    }
    return !(mask & ~noted) && __atomic_load_n(&cell->write, __ATOMIC_ACQUIRE) == word &&
           __atomic_load_n(&record->life, __ATOMIC_ACQUIRE) == life;
}

/* A record for a granule of which some bytes are accessed: what mixed::begin does, if it races with nothing. 0: not done. */
RADDLE_SLOW int raddle_mixed_begin(uint64_t p, uint32_t mask, uint32_t context, int write)
{
    uint64_t *cell = (uint64_t *)RADDLE_CELL(p), old = __atomic_load_n(cell, __ATOMIC_ACQUIRE), bytes = (uint64_t)mask << 33;
    uint32_t nobody = 0, count = 0;
    if (!raddle_knows_all(old) || (!old && !RADDLE_TOUCHED(p)) || !(RADDLE_PRESENCE(p) & RADDLE_HAS_RECORDS) ||
        !__raddle_self.spare_count || *__raddle_self.inside != 1)
        return 0;
    uint32_t id = __raddle_self.spares[__raddle_self.spare_count - 1];
    struct raddle_mixed *record = (struct raddle_mixed *)&RADDLE_MIXED[id];
    uint64_t entries[2];
    for (int side = 0; side < 2; side++) {
        uint32_t half = (uint32_t)(old >> 32 * side), word = raddle_load(RADDLE_CONTEXT(p, !side));
        /* Who made a known access has stored its context; what somebody else stored too late is for lane_of. */
        if (half && (word & 63) != half * 0x9e3779b1u >> 26)
            return 0;
        entries[count] = half | (uint64_t)((word & ~63u) | 15 << 1 | !side) << 32;
        if (write || side)
            entries[count] &= ~bytes;
        count += half && (entries[count] & RADDLE_WHOLE);
    }
    if (!__atomic_compare_exchange_n(&record->lock, &nobody, __raddle_self.owner, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return 0;
    for (uint32_t i = 0; i < RADDLE_ROOM; i++)
        __atomic_store_n(&record->entries[i], i < count ? entries[i] : i == count ? raddle_entry(mask, context, write) : 0, __ATOMIC_RELEASE);
    *__raddle_self.used = 1;
    int done = __atomic_compare_exchange_n(cell, &old, RADDLE_TAG | id, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    __raddle_self.spare_count -= done;
    __atomic_store_n(&record->lock, 0, __ATOMIC_RELEASE);
    return done;
}

/* One access to all bytes, or a write and a read: there is room for it in the cell, which names a record that the thread has locked. As
 * cells::settle and mixed::give. */
static inline __attribute__((always_inline)) void raddle_settle(uint64_t p, struct raddle_mixed *record, const uint64_t *entries, uint32_t count)
{
    uint64_t *cell = (uint64_t *)RADDLE_CELL(p), new = 0;
    uint32_t id = (uint32_t)*cell & ~RADDLE_TAG, words[2] = {0, 0};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t epoch = (uint32_t)entries[i], side = !(entries[i] >> 32 & 1);
        words[side] = ((uint32_t)(entries[i] >> 32) & ~63u) | epoch * 0x9e3779b1u >> 26;
        new |= (uint64_t)epoch << 32 * side;
    }
    for (int side = 0; side < 2; side++)
        __atomic_store_n(RADDLE_CONTEXT(p, !side), words[side], __ATOMIC_RELAXED);
    __atomic_store_n(cell, new, __ATOMIC_RELEASE);
    __atomic_store_n(&record->life, record->life + 1, __ATOMIC_RELEASE);
    __raddle_self.spares[__raddle_self.spare_count++] = id;
}

/* Notes an access in the record of a granule: what mixed::access does, if it races with nothing and the record has room. 0: not done. */
RADDLE_SLOW int raddle_mixed_step(uint64_t p, uint32_t mask, uint32_t context, int write)
{
    uint64_t *cell = (uint64_t *)RADDLE_CELL(p), named = __atomic_load_n(cell, __ATOMIC_ACQUIRE), after[RADDLE_ROOM + 1];
    struct raddle_mixed *record = (struct raddle_mixed *)&RADDLE_MIXED[(uint32_t)named & ~RADDLE_TAG];
    uint32_t nobody = 0, epoch = __raddle_self.epoch, count = 0;
    /* The cell may have changed since the caller looked. */
    if ((named & (~0ull << 32 | RADDLE_TAG | RADDLE_ATOMIC)) != RADDLE_TAG)
        return 0;
    if (!__atomic_compare_exchange_n(&record->lock, &nobody, __raddle_self.owner, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return 0;
    uint64_t newest = raddle_entry(mask, context, write), bytes = (uint64_t)mask << 33;
    int done = *(volatile uint64_t *)cell == named && !record->more, mine = -1;
    for (int i = 0; done && i < RADDLE_ROOM && record->entries[i]; i++) {
        uint64_t entry = record->entries[i];
        if (entry & bytes) {
            int knows = raddle_knows((uint32_t)entry), wrote = entry >> 32 & 1;
            /* What was noted in part in this epoch is for mixed::access. */
            done = (knows || (!write && !wrote)) && ((uint32_t)entry != epoch || (write && !wrote));
            if (write || (knows && !wrote))
                entry &= ~bytes;
        }
        /* The newest takes the place of what it replaces, and goes together with the same access to other bytes. */
        int same = !((entry ^ newest) & ~RADDLE_WHOLE), gone = !(entry & RADDLE_WHOLE);
        if (mine >= 0 && same)
            after[mine] |= entry;
        else if (mine >= 0 && gone)
            continue;
        else if (same || gone)
            after[mine = count++] = same ? entry | newest : newest;
        else
            after[count++] = entry;
    }
    if (mine < 0)
        after[count++] = newest;
    int room = count == 1 ? (after[0] & RADDLE_WHOLE) == RADDLE_WHOLE
                          : count == 2 && (after[0] & after[1] & RADDLE_WHOLE) == RADDLE_WHOLE && ((after[0] ^ after[1]) >> 32 & 1);
    done = done && count <= RADDLE_ROOM && (!room || (__raddle_self.spare_count < RADDLE_SPARES && *__raddle_self.inside == 1));
    if (done) {
        *__raddle_self.used = 1;
        if (room)
            raddle_settle(p, record, after, count);
        else
            for (uint32_t i = 0; i < RADDLE_ROOM; i++) {
                uint64_t entry = i < count ? after[i] : 0;
                if (record->entries[i] != entry)
                    __atomic_store_n(&record->entries[i], entry, __ATOMIC_RELEASE);
            }
    }
    __atomic_store_n(&record->lock, 0, __ATOMIC_RELEASE);
    return done;
}

/* Some bytes of one granule. 0: not done. */
static inline __attribute__((always_inline)) int raddle_granule(uint64_t p, uint32_t mask, uint32_t context, int write)
{
    const struct raddle_cell *cell = RADDLE_CELL(p);
    uint32_t wrote = raddle_load(&cell->write), read = raddle_load(&cell->read), epoch = __raddle_self.epoch;
    if (wrote == epoch || (!write && (read == epoch || __raddle_self.known[read & 63] == read)))
        return 1;
    if ((wrote & (RADDLE_TAG | RADDLE_ATOMIC)) == RADDLE_TAG)
        return raddle_mixed_passes(p, mask, write) || raddle_mixed_step(p, mask, context, write);
    return mask == 15 ? raddle_step4(p, context, write) : raddle_mixed_begin(p, mask, context, write);
}

/* An access that is more than the usual step: granule by granule. 0: not done, or not all of it. */
RADDLE_SLOW int raddle_steps(uint64_t p, uint64_t bytes, uint32_t shape, uint32_t site)
{
    uint64_t end = p + bytes;
    uint32_t context;
    if (__raddle_self.flags || !(context = raddle_context_of(site, shape)))
        return 0;
    int done = raddle_go_in();
    for (uint64_t at = p & ~3ull; done && at < end; at += 4) {
        uint32_t mask = 15;
        if (at < p)
            mask &= 15u << (p - at);
        if (end - at < 4)
            mask &= 15u >> (4 - (end - at));
        done = raddle_granule(at, mask & 15, context, shape >> 31);
    }
    raddle_go_out();
    return done;
}

/* The usual step of one or two cells, without a call. 0: not done. */
static inline __attribute__((always_inline, target("cx16"))) int raddle_step(uint64_t p, uint32_t bytes, uint32_t site, int write)
{
    uint32_t context;
    if (p % bytes || __raddle_self.flags || !(context = raddle_context_of(site, bytes | (write ? 1u << 31 : 0))))
        return 0;
    raddle_fetch(p, site, write);
    int done = raddle_go_in() && (bytes == 4 ? raddle_step4(p, context, write) : raddle_step8(p, context, write));
    raddle_go_out();
    return done;
}

#define RADDLE_MISSED(bytes)                                                                                            \
    RADDLE_SLOW __attribute__((target("cx16"))) void raddle_write_missed##bytes(void *p, uint32_t site)                 \
    {                                                                                                                   \
        if (!raddle_step((uint64_t)p, bytes, site, 1) && !raddle_steps((uint64_t)p, bytes, bytes | 1u << 31, site))     \
            raddle_write_harder(p, bytes, site);                                                                        \
    }                                                                                                                   \
    RADDLE_SLOW __attribute__((target("cx16"))) void raddle_read_missed##bytes(const void *p, uint32_t site)            \
    {                                                                                                                   \
        if (!raddle_step((uint64_t)p, bytes, site, 0) && !raddle_steps((uint64_t)p, bytes, bytes, site))                \
            raddle_read_harder(p, bytes, site);                                                                         \
    }

/* Not one or two whole cells. */
#define RADDLE_PARTLY_MISSED(bytes)                                                                                     \
    RADDLE_SLOW void raddle_write_missed##bytes(void *p, uint32_t site)                                                 \
    {                                                                                                                   \
        if (!raddle_steps((uint64_t)p, bytes, bytes | 1u << 31, site))                                                  \
            raddle_write_harder(p, bytes, site);                                                                        \
    }                                                                                                                   \
    RADDLE_SLOW void raddle_read_missed##bytes(const void *p, uint32_t site)                                            \
    {                                                                                                                   \
        if (!raddle_steps((uint64_t)p, bytes, bytes, site))                                                             \
            raddle_read_harder(p, bytes, site);                                                                         \
    }

RADDLE_MISSED(4)
RADDLE_MISSED(8)
RADDLE_PARTLY_MISSED(1)
RADDLE_PARTLY_MISSED(2)
RADDLE_PARTLY_MISSED(16)

static inline __attribute__((always_inline)) int raddle_wrote(const struct raddle_cell *cell)
{
    return RADDLE_LIKELY(raddle_load(&cell->write) == __raddle_self.epoch);
}

static inline __attribute__((always_inline)) int raddle_has_read(const struct raddle_cell *cell)
{
    uint32_t epoch = __raddle_self.epoch, read = raddle_load(&cell->read);
    return RADDLE_LIKELY(read == epoch) || raddle_load(&cell->write) == epoch || __raddle_self.known[read & 63] == read;
}

/* A thread's own epoch in a cell says that this thread did the same before, with no release in between. */
#define RADDLE_ACCESS(bytes, aligned, read_test, write_test)                                                            \
    RADDLE_INLINE void __raddle_read##bytes(const void *p, uint32_t site)                                               \
    {                                                                                                                   \
        const struct raddle_cell *cell = RADDLE_CELL(p);                                                                \
        if (RADDLE_LIKELY((aligned) && (read_test)))                                                                    \
            return;                                                                                                     \
        raddle_read_missed##bytes(p, site);                                                                             \
    }                                                                                                                   \
    RADDLE_INLINE void __raddle_write##bytes(void *p, uint32_t site)                                                    \
    {                                                                                                                   \
        const struct raddle_cell *cell = RADDLE_CELL(p);                                                                \
        if (RADDLE_LIKELY((aligned) && (write_test)))                                                                   \
            return;                                                                                                     \
        raddle_write_missed##bytes(p, site);                                                                            \
    }

#define RADDLE_OFFSET ((uint64_t)p & 3)
RADDLE_ACCESS(1, 1, raddle_has_read(cell), raddle_wrote(cell))
RADDLE_ACCESS(2, RADDLE_OFFSET != 3, raddle_has_read(cell), raddle_wrote(cell))
RADDLE_ACCESS(4, RADDLE_OFFSET == 0, raddle_has_read(cell), raddle_wrote(cell))
RADDLE_ACCESS(8, RADDLE_OFFSET == 0, raddle_has_read(cell) && raddle_has_read(cell + 1), raddle_wrote(cell) && raddle_wrote(cell + 1))
RADDLE_ACCESS(16, RADDLE_OFFSET == 0,
              raddle_has_read(cell) && raddle_has_read(cell + 1) && raddle_has_read(cell + 2) && raddle_has_read(cell + 3),
              raddle_wrote(cell) && raddle_wrote(cell + 1) && raddle_wrote(cell + 2) && raddle_wrote(cell + 3))

/* The first cell of `count` for which the thread's epoch does not already say it; `count` if there is none. */
static inline __attribute__((always_inline)) uint64_t raddle_passes(const struct raddle_cell *cell, uint64_t count, int write)
{
    uint32_t epoch = __raddle_self.epoch;
    uint64_t at = 0;
    for (; at + 8 <= count; at += 8) {
        uint32_t missing = 0;
        for (int i = 0; i < 8; i++)
            missing |= (cell[at + i].write != epoch) & (write | (cell[at + i].read != epoch));
        if (missing)
            break;
    }
    while (at < count && (write ? raddle_wrote(cell + at) : raddle_has_read(cell + at)))
        at++;
    return at;
}

/* Short walks over memory without gaps are looked through here; the cache of walks is for the others. */
#define RADDLE_SHORT 96

static inline __attribute__((always_inline)) int raddle_walked(uint64_t first, int64_t stride, uint64_t count, uint32_t size, int write)
{
    uint64_t step = stride < 0 ? -(uint64_t)stride : (uint64_t)stride;
    if (count == 0)
        return 1;
    if (step <= size && count <= RADDLE_SHORT) {
        uint64_t low = stride < 0 ? first - step * (count - 1) : first;
        uint64_t end = low + step * (count - 1) + size;
        uint64_t cells = ((end + 3) >> 2) - (low >> 2);
        return cells <= RADDLE_SHORT && raddle_passes(RADDLE_CELL(low), cells, write) == cells;
    }
    return 0;
}

extern void __raddle_slow_read_walk(const void *first, int64_t stride, uint64_t count, uint32_t size, uint32_t site);
extern void __raddle_slow_write_walk(void *first, int64_t stride, uint64_t count, uint32_t size, uint32_t site);

__attribute__((noinline, visibility("hidden"))) void __raddle_read_walk(const void *first, int64_t stride, uint64_t count, uint32_t size,
                                                                        uint32_t site)
{
    if (!raddle_walked((uint64_t)first, stride, count, size, 0))
        __raddle_slow_read_walk(first, stride, count, size, site);
}

__attribute__((noinline, visibility("hidden"))) void __raddle_write_walk(void *first, int64_t stride, uint64_t count, uint32_t size,
                                                                         uint32_t site)
{
    if (!raddle_walked((uint64_t)first, stride, count, size, 1))
        __raddle_slow_write_walk(first, stride, count, size, site);
}

extern void *__raddle_slow_atomic_enter(void *p, uint32_t size, uint32_t kind, uint32_t order, uint32_t failure, uint32_t site);
extern void __raddle_slow_atomic_leave(void *token, uint32_t succeeded);
extern void __raddle_late_atomic(void *p, uint32_t size, uint32_t stores, uint32_t order, uint32_t site);
extern uint64_t __raddle_log_place(void);
extern void __raddle_log_atomic(uint64_t place, void *p, uint32_t size, uint32_t stores, uint32_t order, uint32_t site);
extern uint8_t __raddle_logging;

/* Whether accesses are recorded. As with plain ones, a segment keeps the first of each kind, and more when somebody else wrote. */
static inline __attribute__((always_inline)) int raddle_records(void)
{
    return __raddle_self.flags == RADDLE_OBSERVED && __raddle_logging;
}

/* Puts the access among those of the group, unless it is there in this epoch. Only loads and read-modify-writes that surely write are
 * put there: what a compare-and-swap will be is not known. 0: not done. */
static inline __attribute__((always_inline)) int raddle_noted(struct raddle_group *group, uint32_t size, uint32_t kind, uint32_t site)
{
    uint64_t *free = 0, found = 0;
    for (int i = 0; i < 6; i++) {
        uint64_t entry = __atomic_load_n(&group->entries[i], __ATOMIC_ACQUIRE), writes = entry >> 32 & 1;
        if ((uint32_t)entry == __raddle_self.epoch && (!kind || writes))
            return 1;
        if (!free && entry && (kind || !writes) && raddle_knows((uint32_t)entry))
            free = &group->entries[i], found = entry;
    }
    uint32_t id = raddle_context_of(site, size | 1u << 30 | (kind ? 1u << 31 : 0));
    if (!free || kind == 3 || !id)
        return 0;
    *__raddle_self.used = 1;
    uint64_t entry = __raddle_self.epoch | (uint64_t)(id << 6 | (kind != 0)) << 32;
    return __atomic_compare_exchange_n(free, &found, entry, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* The record of memory whose access tells the thread nothing that it does not know, if nobody has it locked. */
static inline __attribute__((always_inline)) int raddle_quick(struct raddle_pending *access)
{
    uint64_t p = (uint64_t)access->p;
    const struct raddle_cell *cell = RADDLE_CELL(p);
    uint32_t size = access->size, word = __atomic_load_n(&cell->write, __ATOMIC_ACQUIRE);
    if ((word & (RADDLE_TAG | RADDLE_ATOMIC)) != (RADDLE_TAG | RADDLE_ATOMIC) || (p & (size - 1)) || size > 8 ||
        (size == 8 && __atomic_load_n(&cell[1].write, __ATOMIC_ACQUIRE) != word))
        return 0;
    struct raddle_record *record = &RADDLE_RECORDS[word & ~(RADDLE_TAG | RADDLE_ATOMIC)];
    access->record = record;
    access->version = __atomic_load_n(&record->version, __ATOMIC_ACQUIRE);
    uint8_t bytes = ((1u << size) - 1) << (p & 7);
    struct raddle_group *group = record->groups[0].bytes == bytes ? &record->groups[0] : &record->groups[1];
    if (__atomic_load_n(&record->lock, __ATOMIC_ACQUIRE) || record->unit != (p & ~7ull) || group->bytes != bytes ||
        ((group->wrote | group->read) & RADDLE_TAG) || (group->wrote && !raddle_knows(group->wrote)) ||
        (access->kind && group->read && !raddle_knows(group->read)))
        return 0;
    const struct raddle_clock *message = &group->message;
    if (message->len && !(message->from_slot && __raddle_self.values[message->from_slot - 1] >= message->from_clock))
        return 0;
    return raddle_noted(group, size, access->kind, access->site);
}

#define RADDLE_QUICK_OF(p) (&__raddle_self.quick[((uint64_t)(p) >> 3 ^ (uint64_t)(p) >> 7) % RADDLE_QUICK])
#define RADDLE_WHAT(size, kind, order, failure) ((size) | (kind) << 8 | (order) << 16 | (failure) << 24)

static __attribute__((noinline)) void *raddle_atomic_enter_harder(void *p, uint32_t size, uint32_t kind, uint32_t order,
                                                                  uint32_t failure, uint32_t site)
{
    int relaxed = (kind == 2 || (kind == 3 && !failure)) && !order && !__raddle_self.fenced;
    /* A recorder is told of it all the same; nobody else who observes is. */
    int open = !__raddle_self.flags || raddle_records();
    if (RADDLE_LIKELY(open && __raddle_self.depth < 4 && (!kind || relaxed))) {
        struct raddle_pending *access = &__raddle_self.pending[__raddle_self.depth++];
        access->p = p;
        access->size = size;
        access->kind = kind;
        access->order = order;
        access->site = site;
        ++*(volatile uint32_t *)__raddle_self.inside;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        if (RADDLE_LIKELY(!*(volatile uint8_t *)&__raddle_careful && raddle_quick(access))) {
            if (__raddle_self.depth == 1)
                *RADDLE_QUICK_OF(p) =
                    (struct raddle_quick){p, access->record, (uint64_t)access->version << 32, __raddle_self.epoch,
                                          RADDLE_WHAT(size, kind, order, failure), site, 0};
            return (void *)((uint64_t)access | 1);
        }
        --*(volatile uint32_t *)__raddle_self.inside;
        __raddle_self.depth--;
    }
    return __raddle_slow_atomic_enter(p, size, kind, order, failure, site);
}

/* After an access without the lock: whether the record was free and the same all the time. If not, somebody came in between. */
static void raddle_atomic_left(const struct raddle_pending *access, uint64_t state, uint32_t succeeded)
{
    uint32_t stores = access->kind && (access->kind == 2 || succeeded);
    uint64_t place = __raddle_logging ? __raddle_log_place() : 0;
    if (__atomic_load_n((uint64_t *)access->record, __ATOMIC_ACQUIRE) != state) {
        __raddle_late_atomic(access->p, access->size, stores, access->order, access->site);
        return;
    }
    if (stores && raddle_records())
        __atomic_store_n(&access->record->writer, __raddle_self.epoch, __ATOMIC_RELAXED);
    if (__raddle_logging)
        __raddle_log_atomic(place, access->p, access->size, stores, access->order, access->site);
    --*(volatile uint32_t *)__raddle_self.inside;
}

static __attribute__((noinline)) void raddle_atomic_leave_harder(void *token, uint32_t succeeded)
{
    if ((uint64_t)token & 2) {
        struct raddle_quick *quick = (struct raddle_quick *)((uint64_t)token - 2);
        uint32_t kind = quick->what >> 8 & 0xff, stores = kind && (kind == 2 || succeeded);
        uint32_t writer = __atomic_load_n(&quick->record->writer, __ATOMIC_RELAXED);
        if (raddle_records() && quick->seen == (writer | RADDLE_TAG) && (!stores || writer == __raddle_self.epoch) &&
            __atomic_load_n((uint64_t *)quick->record, __ATOMIC_ACQUIRE) == quick->state)
            return;
        struct raddle_pending access = {.record = quick->record, .p = quick->p, .size = quick->what & 0xff,
                                        .kind = quick->what >> 8 & 0xff, .order = quick->what >> 16 & 0xff, .site = quick->site};
        if (!raddle_go_in())
            __raddle_wait_outside();
        raddle_atomic_left(&access, quick->state, succeeded);
        quick->seen = (stores ? __raddle_self.epoch : writer) | RADDLE_TAG;
    } else if ((uint64_t)token & 1) {
        struct raddle_pending access = *(struct raddle_pending *)((uint64_t)token - 1);
        __raddle_self.depth--;
        raddle_atomic_left(&access, (uint64_t)access.version << 32, succeeded);
    } else if (token) {
        __raddle_slow_atomic_leave(token, succeeded);
    }
}

RADDLE_INLINE void *__raddle_atomic_enter(void *p, uint32_t size, uint32_t kind, uint32_t order, uint32_t failure, uint32_t site)
{
    struct raddle_quick *quick = RADDLE_QUICK_OF(p);
    if (RADDLE_LIKELY(quick->p == p && quick->epoch == __raddle_self.epoch &&
                      quick->what == RADDLE_WHAT(size, kind, order, failure) && !__raddle_self.depth &&
                      __atomic_load_n((uint64_t *)quick->record, __ATOMIC_ACQUIRE) == quick->state)) {
        __raddle_self.depth = 1;
        return (void *)((uint64_t)quick | 2);
    }
    return raddle_atomic_enter_harder(p, size, kind, order, failure, site);
}

RADDLE_INLINE void __raddle_atomic_leave(void *token, uint32_t succeeded)
{
    if (RADDLE_LIKELY((uint64_t)token & 2)) {
        const struct raddle_quick *quick = (struct raddle_quick *)((uint64_t)token - 2);
        __raddle_self.depth = 0;
        if (RADDLE_LIKELY(__atomic_load_n((uint64_t *)quick->record, __ATOMIC_ACQUIRE) == quick->state && !__raddle_logging))
            return;
    }
    raddle_atomic_leave_harder(token, succeeded);
}

RADDLE_INLINE struct raddle_frame *__raddle_enter(uint32_t function_site)
{
    struct raddle_frame *old = __raddle_self.top;
    struct raddle_frame *top = RADDLE_LIKELY(old < __raddle_self.limit) ? old + 1 : old;
    __raddle_self.top = top;
    top->function = function_site;
    top->call = 0;
    top->node = 0;
    return old;
}

RADDLE_INLINE void __raddle_exit(struct raddle_frame *old)
{
    __raddle_self.top = old;
}

extern void __raddle_own_left(void);

/* After an exception or longjmp: the function with this frame goes on. */
RADDLE_INLINE void __raddle_again(struct raddle_frame *old)
{
    __raddle_self.top = RADDLE_LIKELY(old < __raddle_self.limit) ? old + 1 : old;
    if (__raddle_self.flags & RADDLE_APART)
        __raddle_own_left();
}

RADDLE_INLINE void __raddle_call(uint32_t site)
{
    /* Read by functions of which the compiler believes to know what they read, free() among them. */
    *(volatile uint32_t *)&__raddle_self.top->call = site;
}

#ifdef RADDLE_SHARED
/* Site ids of a library begin where the runtime says. */
extern uint32_t __raddle_site_base __attribute__((visibility("hidden")));
extern uint32_t __raddle_library(const void *inside);

__attribute__((constructor(101))) static void raddle_register(void)
{
    __raddle_site_base = __raddle_library(&__raddle_site_base);
}
#else
/* Waits that may be cancelled: the mutex is held again when the program's own cleanup handlers run, so ours must run before them. */
extern void __raddle_wait_cancelled(void *wait);

__attribute__((visibility("default"))) int __raddle_cancellable_wait(int (*real)(void *), void *wait)
{
    int result;
    pthread_cleanup_push(__raddle_wait_cancelled, wait);
    result = real(wait);
    pthread_cleanup_pop(0);
    return result;
}

/* Functions with formats: what they read and write is in their variable arguments. Calls to NAME are renamed to __raddle_w_NAME. */
extern void __raddle_read_n(const void *p, uint64_t bytes, uint32_t site);
extern void __raddle_write_n(void *p, uint64_t bytes, uint32_t site);

enum raddle_length { RADDLE_INT, RADDLE_CHAR, RADDLE_SHORT_INT, RADDLE_LONG, RADDLE_LONG_DOUBLE };

static const char *raddle_length_of(const char *f, enum raddle_length *length)
{
    *length = RADDLE_INT;
    for (;; f++)
        switch (*f) {
        case 'h': *length = *length == RADDLE_SHORT_INT ? RADDLE_CHAR : RADDLE_SHORT_INT; break;
        case 'l': case 'q': case 'j': case 'z': case 't': *length = RADDLE_LONG; break;
        case 'L': *length = RADDLE_LONG_DOUBLE; break;
        default: return f;
        }
}

static int raddle_number(const char **f)
{
    int value = 0;
    while (**f >= '0' && **f <= '9')
        value = value * 10 + *(*f)++ - '0';
    return value;
}

/* What printf reads through its arguments. Positions (%1$d) end the look: the rest is not checked. */
static void raddle_prints(const char *format, va_list args, uint32_t site)
{
    __raddle_read_n(format, strlen(format) + 1, site);
    for (const char *f = format; *f;) {
        if (*f++ != '%')
            continue;
        enum raddle_length length;
        int precision = -1;
        while (*f && strchr("-+ #0'I", *f))
            f++;
        if (*f == '*')
            f++, (void)va_arg(args, int);
        else
            raddle_number(&f);
        if (*f == '$')
            return;
        if (*f == '.') {
            f++;
            precision = *f == '*' ? (f++, va_arg(args, int)) : raddle_number(&f);
        }
        f = raddle_length_of(f, &length);
        switch (*f ? *f++ : 0) {
        case 'a': case 'A': case 'e': case 'E': case 'f': case 'F': case 'g': case 'G':
            if (length == RADDLE_LONG_DOUBLE)
                (void)va_arg(args, long double);
            else
                (void)va_arg(args, double);
            break;
        case 's': {
            const char *text = va_arg(args, const char *);
            if (text && length == RADDLE_LONG)
                __raddle_read_n(text, (wcslen((const wchar_t *)text) + 1) * sizeof(wchar_t), site);
            else if (text && precision >= 0)
                __raddle_read_n(text, strnlen(text, precision) + (strnlen(text, precision) < (size_t)precision), site);
            else if (text)
                __raddle_read_n(text, strlen(text) + 1, site);
            break;
        }
        case 'n': __raddle_write_n(va_arg(args, void *), length == RADDLE_LONG ? 8 : 4, site); break;
        case 'p': (void)va_arg(args, void *); break;
        case 'm': case '%': break;
        case 0: return;
        default:
            if (length == RADDLE_LONG)
                (void)va_arg(args, long);
            else
                (void)va_arg(args, int);
        }
    }
}

/* What scanf has written: `found` conversions succeeded. */
static void raddle_scans(const char *format, int found, va_list args, uint32_t site)
{
    __raddle_read_n(format, strlen(format) + 1, site);
    for (const char *f = format; *f && found > 0;) {
        if (*f++ != '%')
            continue;
        enum raddle_length length;
        int kept = 1, made = 0;
        if (*f == '*')
            f++, kept = 0;
        int width = raddle_number(&f);
        if (*f == '$')
            return;
        if (*f == 'm')
            f++, made = 1;
        f = raddle_length_of(f, &length);
        char kind = *f ? *f++ : 0;
        if (kind == '[') {
            f += *f == '^';
            f += *f == ']';
            while (*f && *f++ != ']')
                ;
        }
        if (kind == '%' || !kept)
            continue;
        if (!kind)
            return;
        void *p = va_arg(args, void *);
        uint64_t unit = length == RADDLE_LONG ? sizeof(wchar_t) : 1, bytes;
        if (made)
            bytes = 8;
        else if (kind == 's' || kind == '[')
            bytes = unit == 1 ? strlen(p) + 1 : (wcslen(p) + 1) * unit;
        else if (kind == 'c')
            bytes = (width ? width : 1) * unit;
        else if (kind == 'p')
            bytes = 8;
        else if (strchr("aAeEfFgG", kind))
            bytes = length == RADDLE_LONG_DOUBLE ? 16 : length == RADDLE_LONG ? 8 : 4;
        else
            bytes = length == RADDLE_LONG ? 8 : length == RADDLE_CHAR ? 1 : length == RADDLE_SHORT_INT ? 2 : 4;
        __raddle_write_n(p, bytes, site);
        found -= kind != 'n';
    }
}

#define RADDLE_EXPORT __attribute__((visibility("default")))
#define RADDLE_SITE (__raddle_self.top->call)
#define RADDLE_PRINT(name, real, parameters, arguments, before, after)                                                  \
    RADDLE_EXPORT int __raddle_w_v##name(RADDLE_ALL parameters, const char *format, va_list args)                       \
    {                                                                                                                   \
        va_list copy;                                                                                                   \
        va_copy(copy, args);                                                                                            \
        raddle_prints(format, copy, RADDLE_SITE);                                                                       \
        va_end(copy);                                                                                                   \
        before;                                                                                                         \
        int result = real(RADDLE_ALL arguments, format, args);                                                          \
        after;                                                                                                          \
        return result;                                                                                                  \
    }                                                                                                                   \
    RADDLE_EXPORT int __raddle_w_##name(RADDLE_ALL parameters, const char *format, ...)                                 \
    {                                                                                                                   \
        va_list args;                                                                                                   \
        va_start(args, format);                                                                                         \
        int result = __raddle_w_v##name(RADDLE_ALL arguments, format, args);                                            \
        va_end(args);                                                                                                   \
        return result;                                                                                                  \
    }
#define RADDLE_ALL(...) __VA_ARGS__

RADDLE_PRINT(fprintf, vfprintf, (FILE *file), (file), , )
RADDLE_PRINT(dprintf, vdprintf, (int file), (file), , )
RADDLE_PRINT(sprintf, vsprintf, (char *to), (to), , if (result >= 0) __raddle_write_n(to, result + 1, RADDLE_SITE))
RADDLE_PRINT(snprintf, vsnprintf, (char *to, size_t size), (to, size), ,
             if (result >= 0 && size) __raddle_write_n(to, (size_t)result < size ? (size_t)result + 1 : size, RADDLE_SITE))

RADDLE_EXPORT int __raddle_w_vprintf(const char *format, va_list args)
{
    return __raddle_w_vfprintf(stdout, format, args);
}

RADDLE_EXPORT int __raddle_w_printf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int result = __raddle_w_vfprintf(stdout, format, args);
    va_end(args);
    return result;
}

#define RADDLE_SCAN(wrapper, real, parameters, arguments, before)                                                       \
    RADDLE_EXPORT int wrapper(RADDLE_ALL parameters const char *format, ...)                                            \
    {                                                                                                                   \
        va_list args, copy;                                                                                             \
        va_start(args, format);                                                                                         \
        va_copy(copy, args);                                                                                            \
        before;                                                                                                         \
        int result = real(RADDLE_ALL arguments format, args);                                                           \
        raddle_scans(format, result, copy, RADDLE_SITE);                                                                \
        va_end(copy);                                                                                                   \
        va_end(args);                                                                                                   \
        return result;                                                                                                  \
    }
#define RADDLE_SCANS(prefix)                                                                                            \
    RADDLE_SCAN(prefix##sscanf, vsscanf, (const char *from, ), (from, ), __raddle_read_n(from, strlen(from) + 1, RADDLE_SITE)) \
    RADDLE_SCAN(prefix##fscanf, vfscanf, (FILE * file, ), (file, ), )                                                   \
    RADDLE_SCAN(prefix##scanf, vscanf, (), (), )

RADDLE_SCANS(__raddle_w_)
RADDLE_SCANS(__raddle_w___isoc99_)
RADDLE_SCANS(__raddle_w___isoc23_)
#endif
