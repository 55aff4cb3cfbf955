// Locks taken and given back by callees, wrappers, callbacks, recursion.
#include <pthread.h>
#include <stdlib.h>
void locks(const char *);
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t c = PTHREAD_MUTEX_INITIALIZER;

static void take(pthread_mutex_t *m) { pthread_mutex_lock(m); }
static void give(pthread_mutex_t *m) { pthread_mutex_unlock(m); }
static void take2(pthread_mutex_t *m) { take(m); }
static void give2(pthread_mutex_t *m) { give(m); }

static void wrapped(void)
{
    take2(&a);
    locks("a");
    take2(&b);
    locks("a{b} b");
    // The wrappers are not copied for their callers here: they may release either.
    give2(&b);
    locks("");
    give2(&a);
    locks("");
}

static void under_both(void)
{
    locks("a{b}");
}

static void entered(int n)
{
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    under_both();
    pthread_mutex_unlock(&b);
    under_both();
    pthread_mutex_lock(&c);
    under_both();
    pthread_mutex_unlock(&c);
    pthread_mutex_unlock(&a);
    (void)n;
}

static void history_below(void)
{
    locks("c{a,b}");
    pthread_mutex_lock(&a);
    locks("a c{a,b}");
    pthread_mutex_unlock(&a);
}

static void acquires_b(void)
{
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
}

static void history_across(void)
{
    pthread_mutex_lock(&c);
    acquires_b();
    locks("c{b}");
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    history_below();
    locks("c{a,b}");
    pthread_mutex_unlock(&c);
}

static void releases_sometimes(int n)
{
    if (n)
        pthread_mutex_unlock(&a);
}

static void lost(int n)
{
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    releases_sometimes(n);
    locks("b");
    pthread_mutex_unlock(&b);
}

static void down(int n)
{
    locks("c");
    if (n == 0)
        return;
    pthread_mutex_lock(&b);
    locks("b c{b}");
    pthread_mutex_unlock(&b);
    down(n - 1);
    locks("c{b}");
}

static void climbs(int n)
{
    locks("");
    pthread_mutex_lock(&b);
    if (n)
        climbs(n - 1);
    locks("b");
    pthread_mutex_unlock(&b);
}

static int compare(const void *x, const void *y)
{
    locks("a");
    return *(const int *)x - *(const int *)y;
}

static int bad_compare(const void *x, const void *y)
{
    locks("b");
    pthread_mutex_unlock(&a);
    return *(const int *)x - *(const int *)y;
}

static void callbacks(void)
{
    int data[3] = {3, 2, 1};
    pthread_mutex_lock(&a);
    qsort(data, 3, sizeof data[0], compare);
    locks("a");
    pthread_mutex_lock(&b);
    qsort(data, 3, sizeof data[0], bad_compare);
    locks("b");
    pthread_mutex_unlock(&b);
}

static void in_table_1(void) { pthread_mutex_lock(&a); }
static void in_table_2(void) { pthread_mutex_lock(&a); pthread_mutex_lock(&b); }
static void (*const table[2])(void) = {in_table_1, in_table_2};

static void by_pointer(int n)
{
    table[n & 1]();
    locks("a");
    pthread_mutex_unlock(&a);
}

static void stops(void)
{
    pthread_mutex_unlock(&a);
    exit(1);
}

static void may_stop(int n)
{
    pthread_mutex_lock(&a);
    if (n)
        stops();
    locks("a");
    pthread_mutex_unlock(&a);
}

int main(int argc, char **argv)
{
    (void)argv;
    wrapped();
    entered(argc);
    history_across();
    lost(argc);
    pthread_mutex_lock(&c);
    down(argc);
    pthread_mutex_unlock(&c);
    climbs(argc);
    callbacks();
    by_pointer(argc);
    may_stop(argc);
    return 0;
}
