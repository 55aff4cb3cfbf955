// Lock-order cycles and what makes them harmless. A comment on a lock names the cycle that it is an edge of.
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t c = PTHREAD_MUTEX_INITIALIZER, d = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t e = PTHREAD_MUTEX_INITIALIZER, f = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t g = PTHREAD_MUTEX_INITIALIZER, h = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t i = PTHREAD_MUTEX_INITIALIZER, j = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t k = PTHREAD_MUTEX_INITIALIZER, l = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER, o = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t p = PTHREAD_RWLOCK_INITIALIZER, q = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER, s = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static void take(pthread_mutex_t *x) { pthread_mutex_lock(x); }

static void *one(void *arg)
{
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b); // simple
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);

    pthread_mutex_lock(&gate);
    pthread_mutex_lock(&c);
    pthread_mutex_lock(&d);
    pthread_mutex_unlock(&d);
    pthread_mutex_unlock(&c);
    pthread_mutex_unlock(&gate);

    pthread_mutex_lock(&e);
    pthread_mutex_lock(&f);
    pthread_mutex_unlock(&f);
    pthread_mutex_unlock(&e);
    pthread_mutex_lock(&f);
    pthread_mutex_lock(&e);
    pthread_mutex_unlock(&e);
    pthread_mutex_unlock(&f);

    pthread_mutex_lock(&i);
    if (pthread_mutex_trylock(&j) == 0)
        pthread_mutex_unlock(&j);
    pthread_mutex_unlock(&i);

    pthread_mutex_lock(&k);
    pthread_mutex_lock(&l);
    pthread_cond_wait(&cond, &k); // wait
    pthread_mutex_unlock(&l);
    pthread_mutex_unlock(&k);

    pthread_mutex_lock(&m);
    pthread_mutex_lock(&n); // three
    pthread_mutex_unlock(&n);
    pthread_mutex_unlock(&m);

    pthread_rwlock_rdlock(&p);
    pthread_rwlock_rdlock(&q);
    pthread_rwlock_unlock(&q);
    pthread_rwlock_unlock(&p);
    pthread_rwlock_rdlock(&r);
    pthread_rwlock_wrlock(&s); // readers
    pthread_rwlock_unlock(&s);
    pthread_rwlock_unlock(&r);
    return arg;
}

static void *two(void *arg)
{
    pthread_mutex_lock(&b);
    take(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);

    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a); // simple
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);

    pthread_mutex_lock(&gate);
    pthread_mutex_lock(&d);
    pthread_mutex_lock(&c);
    pthread_mutex_unlock(&c);
    pthread_mutex_unlock(&d);
    pthread_mutex_unlock(&gate);

    pthread_mutex_lock(&j);
    pthread_mutex_lock(&i);
    pthread_mutex_unlock(&i);
    pthread_mutex_unlock(&j);

    pthread_mutex_lock(&k);
    pthread_mutex_lock(&l); // wait
    pthread_mutex_unlock(&l);
    pthread_mutex_unlock(&k);

    pthread_mutex_lock(&n);
    pthread_mutex_lock(&o); // three
    pthread_mutex_unlock(&o);
    pthread_mutex_unlock(&n);

    pthread_rwlock_rdlock(&q);
    pthread_rwlock_rdlock(&p);
    pthread_rwlock_unlock(&p);
    pthread_rwlock_unlock(&q);
    pthread_rwlock_rdlock(&s);
    pthread_rwlock_wrlock(&r); // readers
    pthread_rwlock_unlock(&r);
    pthread_rwlock_unlock(&s);
    return arg;
}

static void *many(void *arg)
{
    if (arg) {
        pthread_mutex_lock(&g);
        pthread_mutex_lock(&h); // among many
        pthread_mutex_unlock(&h);
        pthread_mutex_unlock(&g);
    } else {
        pthread_mutex_lock(&h);
        pthread_mutex_lock(&g); // among many
        pthread_mutex_unlock(&g);
        pthread_mutex_unlock(&h);
    }
    pthread_mutex_lock(&o);
    pthread_mutex_lock(&m); // three
    pthread_mutex_unlock(&m);
    pthread_mutex_unlock(&o);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t t;
    pthread_create(&t, NULL, one, NULL);
    pthread_create(&t, NULL, two, NULL);
    for (int x = 0; x < argc; x++)
        pthread_create(&t, NULL, many, argv[x]);
    return 0;
}
