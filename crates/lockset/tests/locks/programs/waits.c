// Condition waits: the mutex is held after as before, its history starts anew, and others gain it.
#include <pthread.h>
#include <stdlib.h>
void locks(const char *);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, o = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t x = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready;

static void direct(void)
{
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&x);
    pthread_mutex_unlock(&x);
    locks("m{x}");
    while (!ready) {
        pthread_cond_wait(&c, &m);
        locks("m");
    }
    locks("m");
    pthread_mutex_lock(&x);
    pthread_mutex_unlock(&x);
    locks("m{x}");
    pthread_mutex_unlock(&m);
}

static void others_gain(void)
{
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&o);
    locks("m{o} o");
    pthread_cond_wait(&c, &m);
    locks("m o{m}");
    pthread_mutex_unlock(&o);
    pthread_mutex_unlock(&m);
}

static void wait_here(pthread_mutex_t *held)
{
    while (!ready)
        pthread_cond_wait(&c, held);
}

static void helper(void)
{
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&x);
    pthread_mutex_unlock(&x);
    wait_here(&m);
    locks("m");
    pthread_mutex_unlock(&m);
    wait_here(&m);
    locks("");
}

static void inside(void)
{
    locks("m{x}");
    pthread_cond_wait(&c, &m);
    locks("m");
}

static void from_above(void)
{
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&x);
    pthread_mutex_unlock(&x);
    inside();
    locks("m");
    pthread_mutex_unlock(&m);
}

static int compare(const void *one, const void *two)
{
    // The second run comes after a wait.
    locks("m");
    pthread_cond_wait(&c, &m);
    locks("m");
    return *(const int *)one - *(const int *)two;
}

static void sorts(void)
{
    int data[3] = {3, 2, 1};
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&x);
    pthread_mutex_unlock(&x);
    locks("m{x}");
    qsort(data, 3, sizeof data[0], compare);
    locks("m");
    pthread_mutex_unlock(&m);
}

int main(void)
{
    sorts();
    direct();
    others_gain();
    helper();
    from_above();
    return 0;
}
