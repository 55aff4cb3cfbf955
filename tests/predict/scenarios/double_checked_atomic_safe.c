//@ verdict: safe
//@ deadlocks: none
// Double-checked locking with an atomic pointer.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
struct config {
    int value;
};
static struct config instance;
_Atomic(struct config *) shared;
int seen[2];
static int ids[2] = {0, 1};

static struct config *get(void)
{
    struct config *c = atomic_load_explicit(&shared, memory_order_acquire);
    if (c)
        return c;
    pthread_mutex_lock(&m);
    c = atomic_load_explicit(&shared, memory_order_relaxed);
    if (!c) {
        c = &instance;
        c->value = 7; // NORACE: c->value
        atomic_store_explicit(&shared, c, memory_order_release);
    }
    pthread_mutex_unlock(&m);
    return c;
}

static void *worker(void *arg)
{
    int id = *(int *)arg;
    struct config *c;
    usleep(id * 50000);
    c = get();
    seen[id] = c->value; // NORACE: c->value
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, worker, &ids[0]);
    pthread_create(&t, NULL, worker, &ids[1]);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return seen[0] + seen[1] < 0;
}
