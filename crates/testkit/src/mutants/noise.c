/* Linked to a mutant that runs under ThreadSanitizer, by --wrap: random short sleeps before and after synchronisation, and the threads of
   C11 by way of pthread functions, which are the ones that ThreadSanitizer knows. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static uint64_t seed;

enum { RACE = 66, OVER_TIME = 67, MOST_OVER_TIME = 2, MILLISECONDS = 3000 };

/* The exit code of a child, or OVER_TIME once it was killed. */
static int result_of(pid_t child)
{
    for (int waited = 0; waited < MILLISECONDS; waited++) {
        int status;
        if (waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
        usleep(1000);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return OVER_TIME;
}

/* Each run is a child, made before the program's own constructors: it starts in a fifth of the time of a new process. The first that
   reports a race ends the runs, and so do two that hang. */
__attribute__((constructor(101))) static void run_children(void)
{
    const char *text = getenv("RADDLE_RUNS");
    uint64_t runs = text ? strtoull(text, NULL, 10) : 0;
    int over_time = 0;
    for (seed = 0; seed < runs; seed++) {
        pid_t child = fork();
        if (child <= 0) {
            lseek(STDIN_FILENO, 0, SEEK_SET);
            return;
        }
        int result = result_of(child);
        over_time += result == OVER_TIME;
        if (result == RACE || over_time == MOST_OVER_TIME)
            _exit(result);
    }
    if (runs)
        _exit(0);
}

/* The first run has no noise. */
static void noise(void)
{
    static _Thread_local uint64_t state;
    if (seed == 0)
        return;
    if (state == 0)
        state = seed * 0x9E3779B97F4A7C15u + (uint64_t)gettid() * 0xBF58476D1CE4E5B9u;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    if (state % 3 == 0)
        usleep((unsigned)(state >> 32) % 400);
}

#define NOISY(result, name, parameters, arguments)  \
    result __real_##name parameters;                \
    result __wrap_##name parameters                 \
    {                                               \
        noise();                                    \
        result value = __real_##name arguments;     \
        noise();                                    \
        return value;                               \
    }

NOISY(int, pthread_mutex_lock, (pthread_mutex_t *m), (m))
NOISY(int, pthread_mutex_trylock, (pthread_mutex_t *m), (m))
NOISY(int, pthread_mutex_unlock, (pthread_mutex_t *m), (m))
NOISY(int, pthread_rwlock_rdlock, (pthread_rwlock_t *l), (l))
NOISY(int, pthread_rwlock_wrlock, (pthread_rwlock_t *l), (l))
NOISY(int, pthread_rwlock_unlock, (pthread_rwlock_t *l), (l))
NOISY(int, pthread_spin_lock, (pthread_spinlock_t *l), (l))
NOISY(int, pthread_spin_unlock, (pthread_spinlock_t *l), (l))
NOISY(int, pthread_cond_signal, (pthread_cond_t *c), (c))
NOISY(int, pthread_cond_broadcast, (pthread_cond_t *c), (c))
NOISY(int, sem_post, (sem_t *s), (s))
NOISY(int, sem_wait, (sem_t *s), (s))
NOISY(int, pthread_join, (pthread_t t, void **result), (t, result))
NOISY(int, pthread_create, (pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg), (t, a, f, arg))

static int of_errno(int code)
{
    return code == 0 ? thrd_success : code == EBUSY ? thrd_busy : code == ETIMEDOUT ? thrd_timedout : thrd_error;
}

int __wrap_mtx_init(mtx_t *m, int type)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    if (type & mtx_recursive)
        pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    return of_errno(pthread_mutex_init((pthread_mutex_t *)m, &kind));
}
int __wrap_mtx_lock(mtx_t *m) { return of_errno(pthread_mutex_lock((pthread_mutex_t *)m)); }
int __wrap_mtx_trylock(mtx_t *m) { return of_errno(pthread_mutex_trylock((pthread_mutex_t *)m)); }
int __wrap_mtx_timedlock(mtx_t *m, const struct timespec *t)
{
    return of_errno(pthread_mutex_timedlock((pthread_mutex_t *)m, t));
}
int __wrap_mtx_unlock(mtx_t *m) { return of_errno(pthread_mutex_unlock((pthread_mutex_t *)m)); }
void __wrap_mtx_destroy(mtx_t *m) { pthread_mutex_destroy((pthread_mutex_t *)m); }
int __wrap_cnd_init(cnd_t *c) { return of_errno(pthread_cond_init((pthread_cond_t *)c, NULL)); }
int __wrap_cnd_signal(cnd_t *c) { return of_errno(pthread_cond_signal((pthread_cond_t *)c)); }
int __wrap_cnd_broadcast(cnd_t *c) { return of_errno(pthread_cond_broadcast((pthread_cond_t *)c)); }
int __wrap_cnd_wait(cnd_t *c, mtx_t *m)
{
    return of_errno(pthread_cond_wait((pthread_cond_t *)c, (pthread_mutex_t *)m));
}
int __wrap_cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *t)
{
    return of_errno(pthread_cond_timedwait((pthread_cond_t *)c, (pthread_mutex_t *)m, t));
}
void __wrap_cnd_destroy(cnd_t *c) { pthread_cond_destroy((pthread_cond_t *)c); }
void __wrap_call_once(once_flag *o, void (*f)(void)) { pthread_once((pthread_once_t *)o, f); }

struct start {
    thrd_start_t function;
    void *argument;
};

static void *run(void *argument)
{
    struct start start = *(struct start *)argument;
    free(argument);
    return (void *)(intptr_t)start.function(start.argument);
}

int __wrap_thrd_create(thrd_t *t, thrd_start_t function, void *argument)
{
    struct start *start = malloc(sizeof *start);
    if (start == NULL)
        return thrd_nomem;
    *start = (struct start){ function, argument };
    return of_errno(pthread_create(t, NULL, run, start));
}
int __wrap_thrd_join(thrd_t t, int *result)
{
    void *value;
    int code = pthread_join(t, &value);
    if (code == 0 && result != NULL)
        *result = (int)(intptr_t)value;
    return of_errno(code);
}
int __wrap_thrd_detach(thrd_t t) { return of_errno(pthread_detach(t)); }
_Noreturn void __wrap_thrd_exit(int result) { pthread_exit((void *)(intptr_t)result); }
