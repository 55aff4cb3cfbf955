//@ verdict: race
//@ deadlocks: none
// Double-checked locking with a plain pointer: the first check races, and so does the use of what it points to.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
struct config {
    int value;
};
static struct config instance;
struct config *shared;
int seen[2];
static int ids[2] = {0, 1};

static struct config *get(void)
{
    struct config *c = shared; // RACE#1: shared
    if (c)
        return c;
    pthread_mutex_lock(&m);
    c = shared;
    if (!c) {
        c = &instance;
        c->value = 7; // RACE#2: c->value
        shared = c; // RACE#1: shared
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
    seen[id] = c->value; // RACE#2: c->value
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
