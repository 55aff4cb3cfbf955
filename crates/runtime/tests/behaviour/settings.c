/* Deadlines, attributes, names and results of calls of threads and locks are memory of the program.
 * races: 2-20 3-21 4-22 5-23 6-24 7-25
 * prints: done */
#include "hooks.h"
int __raddle_w_pthread_mutex_timedlock(void *, const struct timespec *);
int __raddle_w_pthread_cond_init(void *, const void *);
int __raddle_w_pthread_create(void *, const void *, void *(*)(void *), void *);
int __raddle_w_pthread_attr_setstacksize(void *, size_t);
int __raddle_w_pthread_setname_np(pthread_t, const char *);
int __raddle_w_pthread_join(pthread_t, void **);
int __raddle_w_pthread_mutexattr_settype(void *, int);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c;
static struct timespec deadline;
static pthread_condattr_t attributes;
static pthread_attr_t of_thread;
static pthread_mutexattr_t of_mutex;
static char name[8] = "one";
static void *result;
static volatile int done;
static void *nothing(void *p)
{
    return p;
}
static void *calls(void *p)
{
    pthread_t t;
    if (CALL(2, __raddle_w_pthread_mutex_timedlock(&m, &deadline)) == 0)
        pthread_mutex_unlock(&m);
    CALL(3, __raddle_w_pthread_cond_init(&c, &attributes));
    CALL(4, __raddle_w_pthread_create(&t, &of_thread, nothing, 0));
    CALL(5, __raddle_w_pthread_join(t, &result));
    CALL(6, __raddle_w_pthread_setname_np(pthread_self(), name));
    CALL(7, __raddle_w_pthread_mutexattr_settype(&of_mutex, PTHREAD_MUTEX_RECURSIVE));
    done = 1;
    return p;
}
int main(void)
{
    pthread_t a;
    pthread_attr_init(&of_thread);
    pthread_mutexattr_init(&of_mutex);
    pthread_create(&a, 0, calls, 0);
    later(&done);
    W(deadline, 1, 20);
    W(attributes, 0, 21);
    CALL(22, __raddle_w_pthread_attr_setstacksize(&of_thread, 1 << 20));
    R(result, 23);
    W(name, 'o', 24);
    R(of_mutex, 25);
    pthread_join(a, 0);
    puts("done");
}
