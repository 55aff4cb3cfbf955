//@ verdict: safe
//@ deadlocks: none
// Two readers at once, and a writer that excludes them.
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int x, seen[2];
static int ids[2] = {0, 1};

static void *reader(void *arg)
{
    int id = *(int *)arg;
    pthread_rwlock_rdlock(&lock);
    seen[id] = x; // NORACE: x
    pthread_rwlock_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, reader, &ids[0]);
    pthread_create(&t, NULL, reader, &ids[1]);
    pthread_rwlock_wrlock(&lock);
    x = 7; // NORACE: x
    pthread_rwlock_unlock(&lock);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return seen[0] + seen[1] < 0;
}
