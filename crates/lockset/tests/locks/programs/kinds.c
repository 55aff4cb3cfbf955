// Recursive, error-checking and robust mutexes, read-write locks, spin locks.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
void locks(const char *);
static pthread_mutex_t r = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t e = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t by_attribute, plain, a = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t s;

static void recursive(void)
{
    pthread_mutex_lock(&r);
    locks("r");
    pthread_mutex_lock(&r);
    locks("r*2");
    pthread_mutex_lock(&a);
    locks("r*2{a} a");
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&r);
    locks("r{a}");
    pthread_mutex_unlock(&r);
    locks("");
}

static void checked(void)
{
    pthread_mutex_lock(&e);
    locks("");
    pthread_mutex_unlock(&e);
    if (pthread_mutex_lock(&e) != 0)
        return;
    locks("e");
    pthread_mutex_unlock(&e);
    pthread_mutex_lock(&by_attribute);
    locks("");
    pthread_mutex_unlock(&by_attribute);
    if (pthread_mutex_lock(&by_attribute) == 0) {
        locks("by_attribute");
        pthread_mutex_unlock(&by_attribute);
    }
    pthread_mutex_lock(&plain);
    locks("plain");
    pthread_mutex_unlock(&plain);
}

static void readers(void)
{
    pthread_rwlock_rdlock(&rw);
    locks("rw/r");
    pthread_mutex_lock(&a);
    locks("rw/r a");
    pthread_mutex_unlock(&a);
    pthread_rwlock_rdlock(&rw);
    locks("rw/r*2");
    pthread_rwlock_unlock(&rw);
    locks("");
    pthread_rwlock_unlock(&rw);
    pthread_rwlock_wrlock(&rw);
    locks("rw");
    pthread_mutex_lock(&a);
    locks("rw{a} a");
    pthread_mutex_unlock(&a);
    pthread_rwlock_rdlock(&rw);
    pthread_rwlock_unlock(&rw);
    locks("");
}

static void either(int c)
{
    if (c)
        pthread_rwlock_rdlock(&rw);
    else
        pthread_rwlock_wrlock(&rw);
    locks("rw/r");
    pthread_rwlock_unlock(&rw);
    if (pthread_rwlock_tryrdlock(&rw) == 0) {
        locks("rw/r");
        pthread_rwlock_unlock(&rw);
    }
    pthread_mutex_lock(&a);
    pthread_rwlock_rdlock(&rw);
    pthread_rwlock_unlock(&rw);
    locks("a");
    pthread_rwlock_wrlock(&rw);
    pthread_rwlock_unlock(&rw);
    locks("a{rw}");
    pthread_spin_lock(&s);
    locks("a{rw,s} s");
    pthread_spin_unlock(&s);
    pthread_mutex_unlock(&a);
}

static void reads_inside(void)
{
    pthread_rwlock_rdlock(&rw);
    pthread_rwlock_unlock(&rw);
}

static void failed_read_releases(void)
{
    pthread_rwlock_wrlock(&rw);
    reads_inside();
    locks("");
    pthread_rwlock_unlock(&rw);
}

int main(void)
{
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&by_attribute, &how);
    pthread_mutex_init(&plain, NULL);
    pthread_spin_init(&s, 0);
    recursive();
    checked();
    readers();
    either(rand());
    failed_read_releases();
    return 0;
}
