// Two threads are careful; the third one takes another lock. They come one after the other, which orders nothing.
#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static atomic_int turn;
static int count;

static void await(void *arg)
{
    while (atomic_load_explicit(&turn, memory_order_relaxed) != *(int *)arg)
        continue;
}

static void done(void)
{
    atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed);
}

static void *careful(void *arg)
{
    await(arg);
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&m);
        count++;
        pthread_mutex_unlock(&m);
    }
    done();
    return NULL;
}

static void *other(void *arg)
{
    await(arg);
    pthread_mutex_lock(&n);
    count += 2;
    pthread_mutex_unlock(&n);
    return NULL;
}

int main(void)
{
    pthread_t a, b, c;
    static int turns[] = {0, 1, 2};
    count = 5;
    pthread_create(&a, 0, careful, &turns[0]);
    pthread_create(&b, 0, careful, &turns[1]);
    pthread_create(&c, 0, other, &turns[2]);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return count == 0;
}
