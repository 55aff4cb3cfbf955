// What synchronisation functions return, as glibc has it: each deterministic, each asserted. Run plainly, interpreted and under control.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

static const struct timespec past = {1, 0};
static const struct timespec future = {4000000000, 0};

static pthread_mutex_t mutex_of(int kind, int robust)
{
    pthread_mutexattr_t attributes;
    pthread_mutex_t m;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, kind);
    if (robust)
        pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&m, &attributes);
    return m;
}

/* In another thread: each function, and what it returns. */
struct call {
    int (*function)(void *);
    void *object;
    int result;
};
static void *caller(void *arg)
{
    struct call *call = arg;
    call->result = call->function(call->object);
    return arg;
}
static int elsewhere(int (*function)(void *), void *object)
{
    struct call call = {function, object, -2};
    pthread_t t;
    pthread_create(&t, NULL, caller, &call);
    pthread_join(t, NULL);
    return call.result;
}
static int try_mutex(void *m) { return pthread_mutex_trylock(m); }
static int timed_mutex(void *m) { return pthread_mutex_timedlock(m, &past); }
static int unlock_mutex(void *m) { return pthread_mutex_unlock(m); }
static int lock_mutex(void *m) { return pthread_mutex_lock(m); }
static int try_read(void *l) { return pthread_rwlock_tryrdlock(l); }
static int try_write(void *l) { return pthread_rwlock_trywrlock(l); }
static int timed_read(void *l) { return pthread_rwlock_timedrdlock(l, &past); }
static int timed_write(void *l) { return pthread_rwlock_timedwrlock(l, &past); }
static int read_and_go(void *l)
{
    int result = pthread_rwlock_tryrdlock(l);
    if (result == 0)
        pthread_rwlock_unlock(l);
    return result;
}
static int try_spin(void *l) { return pthread_spin_trylock(l); }
static int try_c11(void *m) { return mtx_trylock(m); }
static int timed_c11(void *m) { return mtx_timedlock(m, &past); }

static void normal(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    assert(pthread_mutex_trylock(&m) == 0);
    assert(pthread_mutex_trylock(&m) == EBUSY);
    assert(pthread_mutex_timedlock(&m, &past) == ETIMEDOUT);
    assert(elsewhere(try_mutex, &m) == EBUSY);
    assert(elsewhere(timed_mutex, &m) == ETIMEDOUT);
    assert(pthread_mutex_destroy(&m) == EBUSY);
    assert(pthread_mutex_unlock(&m) == 0);
    assert(pthread_mutex_timedlock(&m, &past) == 0);
    assert(pthread_mutex_unlock(&m) == 0);
    assert(pthread_mutex_destroy(&m) == 0);
}

static void recursive(void)
{
    pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    assert(pthread_mutex_lock(&m) == 0);
    assert(pthread_mutex_lock(&m) == 0);
    assert(pthread_mutex_trylock(&m) == 0);
    assert(pthread_mutex_timedlock(&m, &past) == 0);
    assert(elsewhere(try_mutex, &m) == EBUSY);
    assert(elsewhere(unlock_mutex, &m) == EPERM);
    for (int i = 0; i < 3; i++)
        assert(pthread_mutex_unlock(&m) == 0);
    assert(elsewhere(try_mutex, &m) == EBUSY);
    assert(pthread_mutex_unlock(&m) == 0);
    assert(pthread_mutex_unlock(&m) == EPERM);
    assert(elsewhere(lock_mutex, &m) == 0);
    /* Its thread is gone with it. */
    assert(pthread_mutex_trylock(&m) == EBUSY);
}

static void checking(void)
{
    pthread_mutex_t m = mutex_of(PTHREAD_MUTEX_ERRORCHECK, 0);
    assert(pthread_mutex_unlock(&m) == EPERM);
    assert(pthread_mutex_lock(&m) == 0);
    assert(pthread_mutex_lock(&m) == EDEADLK);
    assert(pthread_mutex_trylock(&m) == EBUSY);
    assert(pthread_mutex_timedlock(&m, &future) == EDEADLK);
    assert(elsewhere(unlock_mutex, &m) == EPERM);
    assert(elsewhere(timed_mutex, &m) == ETIMEDOUT);
    assert(pthread_mutex_unlock(&m) == 0);
    assert(pthread_mutex_destroy(&m) == 0);
}

static void robust(void)
{
    pthread_mutex_t m = mutex_of(PTHREAD_MUTEX_NORMAL, 1);
    assert(pthread_mutex_consistent(&m) == EINVAL);
    assert(elsewhere(lock_mutex, &m) == 0);
    assert(pthread_mutex_trylock(&m) == EOWNERDEAD);
    assert(elsewhere(try_mutex, &m) == EBUSY);
    assert(elsewhere(unlock_mutex, &m) == EPERM);
    assert(pthread_mutex_consistent(&m) == 0);
    assert(pthread_mutex_unlock(&m) == 0);
    assert(elsewhere(lock_mutex, &m) == 0);
    assert(pthread_mutex_lock(&m) == EOWNERDEAD);
    assert(pthread_mutex_unlock(&m) == 0);
    assert(pthread_mutex_lock(&m) == ENOTRECOVERABLE);
    assert(pthread_mutex_trylock(&m) == ENOTRECOVERABLE);
    assert(pthread_mutex_destroy(&m) == 0);
}

static void rwlock(void)
{
    pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
    assert(pthread_rwlock_rdlock(&l) == 0);
    assert(pthread_rwlock_rdlock(&l) == 0);
    assert(pthread_rwlock_trywrlock(&l) == EBUSY);
    assert(pthread_rwlock_timedwrlock(&l, &past) == ETIMEDOUT);
    assert(elsewhere(read_and_go, &l) == 0);
    assert(elsewhere(try_write, &l) == EBUSY);
    assert(elsewhere(timed_write, &l) == ETIMEDOUT);
    assert(pthread_rwlock_unlock(&l) == 0);
    assert(elsewhere(try_write, &l) == EBUSY);
    assert(pthread_rwlock_unlock(&l) == 0);
    assert(pthread_rwlock_wrlock(&l) == 0);
    assert(pthread_rwlock_rdlock(&l) == EDEADLK);
    assert(pthread_rwlock_wrlock(&l) == EDEADLK);
    assert(pthread_rwlock_timedrdlock(&l, &future) == EDEADLK);
    assert(pthread_rwlock_tryrdlock(&l) == EBUSY);
    assert(pthread_rwlock_trywrlock(&l) == EBUSY);
    assert(elsewhere(try_read, &l) == EBUSY);
    assert(elsewhere(timed_read, &l) == ETIMEDOUT);
    assert(pthread_rwlock_unlock(&l) == 0);
    assert(pthread_rwlock_destroy(&l) == 0);
}

static void spin(void)
{
    pthread_spinlock_t l;
    assert(pthread_spin_init(&l, PTHREAD_PROCESS_PRIVATE) == 0);
    assert(pthread_spin_lock(&l) == 0);
    assert(pthread_spin_trylock(&l) == EBUSY);
    assert(elsewhere(try_spin, (void *)&l) == EBUSY);
    assert(pthread_spin_unlock(&l) == 0);
    assert(pthread_spin_trylock(&l) == 0);
    assert(pthread_spin_unlock(&l) == 0);
    assert(pthread_spin_destroy(&l) == 0);
}

static void c11(void)
{
    mtx_t plain, twice;
    assert(mtx_init(&plain, mtx_timed) == thrd_success);
    assert(mtx_init(&twice, mtx_plain | mtx_recursive) == thrd_success);
    assert(mtx_lock(&plain) == thrd_success);
    assert(mtx_trylock(&plain) == thrd_busy);
    assert(elsewhere(try_c11, &plain) == thrd_busy);
    assert(elsewhere(timed_c11, &plain) == thrd_timedout);
    assert(mtx_unlock(&plain) == thrd_success);
    assert(mtx_lock(&twice) == thrd_success);
    assert(mtx_trylock(&twice) == thrd_success);
    assert(mtx_unlock(&twice) == thrd_success);
    assert(elsewhere(try_c11, &twice) == thrd_busy);
    assert(mtx_unlock(&twice) == thrd_success);
    cnd_t c;
    assert(cnd_init(&c) == thrd_success);
    assert(cnd_signal(&c) == thrd_success);
    mtx_lock(&plain);
    int waited = cnd_timedwait(&c, &plain, &past);
    assert(waited == thrd_timedout || waited == thrd_success);
    assert(mtx_unlock(&plain) == thrd_success);
    cnd_destroy(&c);
    mtx_destroy(&plain);
    mtx_destroy(&twice);
}

static void condition(void)
{
    pthread_mutex_t m = mutex_of(PTHREAD_MUTEX_ERRORCHECK, 0);
    pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    assert(pthread_cond_signal(&c) == 0);
    assert(pthread_cond_broadcast(&c) == 0);
    assert(pthread_cond_timedwait(&c, &m, &past) == EPERM);
    pthread_mutex_lock(&m);
    int waited = pthread_cond_timedwait(&c, &m, &past);
    assert(waited == ETIMEDOUT || waited == 0);
    assert(pthread_mutex_lock(&m) == EDEADLK);
    assert(pthread_mutex_unlock(&m) == 0);
    assert(pthread_cond_destroy(&c) == 0);
}

static void semaphore(void)
{
    sem_t s;
    int value;
    assert(sem_init(&s, 0, (unsigned)SEM_VALUE_MAX + 1) == -1 && errno == EINVAL);
    assert(sem_init(&s, 0, SEM_VALUE_MAX) == 0);
    assert(sem_post(&s) == -1 && errno == EOVERFLOW);
    assert(sem_init(&s, 0, 1) == 0);
    assert(sem_trywait(&s) == 0);
    errno = 0;
    assert(sem_trywait(&s) == -1 && errno == EAGAIN);
    assert(sem_timedwait(&s, &past) == -1 && errno == ETIMEDOUT);
    assert(sem_post(&s) == 0 && sem_post(&s) == 0);
    assert(sem_getvalue(&s, &value) == 0 && value == 2);
    assert(sem_wait(&s) == 0);
    assert(sem_timedwait(&s, &past) == 0);
    assert(sem_destroy(&s) == 0);
}

static pthread_barrier_t barrier;
static int serials[4];
static void *meets(void *arg)
{
    for (int i = 0; i < 4; i++)
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            __atomic_fetch_add(&serials[i], 1, __ATOMIC_RELAXED);
    return arg;
}
static void barriers(void)
{
    pthread_t t;
    assert(pthread_barrier_init(&barrier, NULL, 0) == EINVAL);
    assert(pthread_barrier_init(&barrier, NULL, 1) == 0);
    assert(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
    assert(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
    assert(pthread_barrier_destroy(&barrier) == 0);
    assert(pthread_barrier_init(&barrier, NULL, 2) == 0);
    pthread_create(&t, NULL, meets, NULL);
    meets(NULL);
    pthread_join(t, NULL);
    for (int i = 0; i < 4; i++)
        assert(__atomic_load_n(&serials[i], __ATOMIC_RELAXED) == 1);
    assert(pthread_barrier_destroy(&barrier) == 0);
}

static void *leaves(void *arg)
{
    pthread_exit((char *)arg + 1);
}
static int answers(void *arg)
{
    return arg ? 7 : 8;
}
static pthread_t waited_for;
static int join_it(void *arg)
{
    (void)arg;
    return pthread_join(waited_for, NULL);
}
static void threads(void)
{
    static char bytes[2];
    pthread_t t;
    void *result;
    int number;
    thrd_t c;
    assert(pthread_create(&t, NULL, leaves, bytes) == 0);
    assert(pthread_join(t, &result) == 0 && result == bytes + 1);
    assert(pthread_join(pthread_self(), NULL) == EDEADLK);
    assert(thrd_create(&c, answers, bytes) == thrd_success);
    assert(thrd_join(c, &number) == thrd_success && number == 7);
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&m);
    struct call call = {lock_mutex, &m, -2};
    pthread_create(&t, NULL, caller, &call);
    assert(pthread_tryjoin_np(t, NULL) == EBUSY);
    assert(pthread_timedjoin_np(t, NULL, &past) == ETIMEDOUT);
    pthread_mutex_unlock(&m);
    assert(pthread_join(t, NULL) == 0 && call.result == 0);
    waited_for = pthread_self();
    assert(pthread_detach(pthread_self()) == 0);
    assert(pthread_detach(pthread_self()) == EINVAL);
    assert(elsewhere(join_it, NULL) == EINVAL);
}

static int ran;
static void runs(void)
{
    ran++;
}
static pthread_once_t once = PTHREAD_ONCE_INIT;
static once_flag flag = ONCE_FLAG_INIT;
static int run_once(void *arg)
{
    (void)arg;
    call_once(&flag, runs);
    return pthread_once(&once, runs);
}

int main(int argc, char **argv)
{
    (void)argv;
    void (*parts[])(void) = {normal, recursive, checking, robust, rwlock, spin, c11, condition, semaphore, barriers, threads};
    int count = sizeof parts / sizeof parts[0];
    for (int i = 0; i < count; i++)
        if (argc == 1 || i == argc - 2)
            parts[i]();
    assert(run_once(NULL) == 0 && elsewhere(run_once, NULL) == 0 && ran == 2);
    return 0;
}
