/* Runs scripts of accesses and synchronisation on real threads, through the hooks of instrumented code, which the runtime records.
 *
 * In: for each script the number of threads, and for each thread the number of operations and these, four words each. Out: for each
 * script the address of its memory, which is allocated at its beginning and freed at its end, and the size of that. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

void __raddle_read1(const void *, uint32_t), __raddle_read2(const void *, uint32_t), __raddle_read4(const void *, uint32_t),
    __raddle_read8(const void *, uint32_t), __raddle_read16(const void *, uint32_t);
void __raddle_write1(void *, uint32_t), __raddle_write2(void *, uint32_t), __raddle_write4(void *, uint32_t),
    __raddle_write8(void *, uint32_t), __raddle_write16(void *, uint32_t);
void __raddle_read_n(const void *, uint64_t, uint32_t), __raddle_write_n(void *, uint64_t, uint32_t);
void __raddle_read_walk(const void *, int64_t, uint64_t, uint32_t, uint32_t);
void __raddle_write_walk(void *, int64_t, uint64_t, uint32_t, uint32_t);
void *__raddle_atomic_enter(void *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t);
void __raddle_atomic_leave(void *, uint32_t);
void __raddle_fence(uint32_t, uint32_t), __raddle_release(void *, uint32_t), __raddle_acquire(void *, uint32_t);
/* Logs a plain access, where the runtime does not do that by itself. */
void __raddle_note(const void *, uint64_t, uint32_t);

enum { READ, WRITE, READ_N, WRITE_N, READ_WALK, WRITE_WALK, ATOMIC, FENCE, LOCK, UNLOCK, TRYLOCK, RDLOCK, WRLOCK, RWUNLOCK, SPIN,
       SPINUNLOCK, POST, TRYWAIT, BARRIER, ONCE, CONDWAIT, CREATE, JOIN, RELEASE, ACQUIRE, NEWSEM, YIELD, MTX, MTXUNLOCK, PAIR };

#define THREADS 8
#define OBJECTS 4
struct op {
    uint32_t what, a, b, c;
};
struct script {
    uint32_t count;
    struct op *ops;
    pthread_t handle;
    int created, joined;
};
/* One place per script: fresh memory, fresh objects. */
struct place {
    _Alignas(64) unsigned char bytes[64];
    pthread_mutex_t mutex[OBJECTS];
    pthread_rwlock_t rwlock[OBJECTS];
    pthread_spinlock_t spin[OBJECTS];
    sem_t sem[OBJECTS];
    pthread_once_t once[OBJECTS];
    pthread_cond_t cond;
    pthread_barrier_t barrier, pairs;
    mtx_t mtx;
    int tag[OBJECTS];
};

/* A size that nothing else has. */
#define PLACE_BYTES ((sizeof(struct place) | 15) + 9)

static struct script scripts[THREADS];
static struct place *place;
static int go;
/* Scripts so far: sites say of which script an access is. */
static uint32_t sequence;
#define SCRIPT (sequence % 32)
#define PLAIN (1 + SCRIPT)
#define ATOMICALLY (65 + SCRIPT)

static void initialise(void)
{
}

static void *run(void *);

static void atomic(unsigned char *p, uint32_t size, uint32_t kind, uint32_t order, uint32_t failure)
{
    uint32_t good = 1;
    void *token = __raddle_atomic_enter(p, size, kind, order, failure, ATOMICALLY);
#define DO(type)                                                                                                       \
    {                                                                                                                  \
        type *q = (type *)p, zero = 0;                                                                                 \
        if (kind == 0)                                                                                                 \
            __atomic_load_n(q, __ATOMIC_SEQ_CST);                                                                      \
        else if (kind == 1)                                                                                            \
            __atomic_store_n(q, 1, __ATOMIC_SEQ_CST);                                                                  \
        else if (kind == 2)                                                                                            \
            __atomic_fetch_xor(q, 1, __ATOMIC_SEQ_CST);                                                                \
        else                                                                                                           \
            good = __atomic_compare_exchange_n(q, &zero, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                    \
    }
    switch (size) {
    case 1: DO(uint8_t) break;
    case 2: DO(uint16_t) break;
    case 4: DO(uint32_t) break;
    default: DO(uint64_t) break;
    }
    __raddle_atomic_leave(token, good);
}

/* Between the note of an access and the access others may do anything. */
static void note(const void *p, uint64_t size, int write)
{
    static _Thread_local uint32_t notes;
    __raddle_note(p, size, write);
    if (++notes % 8 == 0)
        sched_yield();
}

static void plain(unsigned char *p, uint32_t size, int write)
{
    note(p, size, write);
    switch (size * 2 + write) {
    case 2: __raddle_read1(p, PLAIN); break;
    case 3: __raddle_write1(p, PLAIN); break;
    case 4: __raddle_read2(p, PLAIN); break;
    case 5: __raddle_write2(p, PLAIN); break;
    case 8: __raddle_read4(p, PLAIN); break;
    case 9: __raddle_write4(p, PLAIN); break;
    case 16: __raddle_read8(p, PLAIN); break;
    case 17: __raddle_write8(p, PLAIN); break;
    case 32: __raddle_read16(p, PLAIN); break;
    default: __raddle_write16(p, PLAIN); break;
    }
}

static void walk(unsigned char *p, int step, uint32_t count, uint32_t size, int write)
{
    for (int i = 0; i < (int)count; i++)
        note(p + i * step, size, write);
    if (write)
        __raddle_write_walk(p, step, count, size, PLAIN);
    else
        __raddle_read_walk(p, step, count, size, PLAIN);
}

static void step(struct op *op)
{
    unsigned char *p = place->bytes + op->a;
    struct timespec past = {0, 0};
    switch (op->what) {
    case READ: plain(p, op->b, 0); break;
    case WRITE: plain(p, op->b, 1); break;
    case READ_N: note(p, op->b, 0), __raddle_read_n(p, op->b, PLAIN); break;
    case WRITE_N: note(p, op->b, 1), __raddle_write_n(p, op->b, PLAIN); break;
    case READ_WALK: walk(p, (int)op->c, op->b >> 8, op->b & 255, 0); break;
    case WRITE_WALK: walk(p, (int)op->c, op->b >> 8, op->b & 255, 1); break;
    case ATOMIC: atomic(p, op->b, op->c & 255, op->c >> 8 & 255, op->c >> 16); break;
    case FENCE: __raddle_fence(op->a, 1); break;
    case LOCK: pthread_mutex_lock(&place->mutex[op->a]); break;
    case UNLOCK: pthread_mutex_unlock(&place->mutex[op->a]); break;
    case TRYLOCK:
        if (pthread_mutex_trylock(&place->mutex[op->a]) == 0) {
            plain(place->bytes + op->b, 4, op->c);
            pthread_mutex_unlock(&place->mutex[op->a]);
        }
        break;
    case RDLOCK: pthread_rwlock_rdlock(&place->rwlock[op->a]); break;
    case WRLOCK: pthread_rwlock_wrlock(&place->rwlock[op->a]); break;
    case RWUNLOCK: pthread_rwlock_unlock(&place->rwlock[op->a]); break;
    case SPIN: pthread_spin_lock(&place->spin[op->a]); break;
    case SPINUNLOCK: pthread_spin_unlock(&place->spin[op->a]); break;
    case POST: sem_post(&place->sem[op->a]); break;
    case TRYWAIT: sem_trywait(&place->sem[op->a]); break;
    case BARRIER: pthread_barrier_wait(&place->barrier); break;
    case PAIR: pthread_barrier_wait(&place->pairs); break;
    case ONCE: pthread_once(&place->once[op->a], initialise); break;
    case CONDWAIT: pthread_cond_timedwait(&place->cond, &place->mutex[op->a], &past); break;
    case CREATE:
        scripts[op->a].created = pthread_create(&scripts[op->a].handle, 0, run, &scripts[op->a]) == 0;
        break;
    case JOIN:
        if (scripts[op->a].created && !scripts[op->a].joined) {
            scripts[op->a].joined = 1;
            pthread_join(scripts[op->a].handle, 0);
        }
        break;
    case RELEASE: __raddle_release(&place->tag[op->a], 1); break;
    case ACQUIRE: __raddle_acquire(&place->tag[op->a], 1); break;
    case NEWSEM: sem_init(&place->sem[op->a], 0, 0); break;
    case YIELD: sched_yield(); break;
    case MTX: mtx_lock(&place->mtx); break;
    case MTXUNLOCK: mtx_unlock(&place->mtx); break;
    }
}

static void *run(void *p)
{
    struct script *script = p;
    while (!__atomic_load_n(&go, __ATOMIC_RELAXED))
        ;
    for (uint32_t i = 0; i < script->count; i++)
        step(&script->ops[i]);
    return 0;
}

static uint32_t word(void)
{
    uint32_t value;
    if (fread(&value, 4, 1, stdin) != 1)
        exit(0);
    return value;
}

int main(void)
{
    for (;;) {
        uint32_t threads = word();
        sequence++;
        memset(scripts, 0, sizeof scripts);
        for (uint32_t t = 0; t < threads; t++) {
            scripts[t].count = word();
            scripts[t].ops = calloc(scripts[t].count + 1, sizeof(struct op));
            for (uint32_t i = 0; i < scripts[t].count; i++)
                scripts[t].ops[i] = (struct op){word(), word(), word(), word()};
        }
        place = aligned_alloc(64, PLACE_BYTES);
        memset(place, 0, sizeof *place);
        mtx_init(&place->mtx, mtx_plain);
        pthread_barrier_init(&place->barrier, 0, 2);
        pthread_barrier_init(&place->pairs, 0, 2);
        for (int i = 0; i < OBJECTS; i++)
            pthread_spin_init(&place->spin[i], 0);
        go = 0;
        for (uint32_t i = 0; i < scripts[0].count && scripts[0].ops[i].what == CREATE; i++)
            step(&scripts[0].ops[i]), scripts[0].ops[i].what = YIELD;
        __atomic_store_n(&go, 1, __ATOMIC_RELAXED);
        run(&scripts[0]);
        /* A thread may still be about to start another: join in the order of the numbers. */
        for (uint32_t t = 1; t < threads; t++)
            if (scripts[t].created && !scripts[t].joined)
                pthread_join(scripts[t].handle, 0);
        uint64_t head[2] = {(uint64_t)place, PLACE_BYTES};
        free(place);
        fwrite(head, sizeof head, 1, stdout);
        fflush(stdout);
        for (uint32_t t = 0; t < threads; t++)
            free(scripts[t].ops);
    }
}
