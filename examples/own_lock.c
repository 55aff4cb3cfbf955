// A lock from a library that Raddle has never seen. own_lock.toml says what its functions do.
#include <pthread.h>

struct my_lock {
    int state;
};
void my_lock_enter(struct my_lock *lock);
void my_lock_leave(struct my_lock *lock);

static struct my_lock lock;
static int total;

static void *worker(void *arg)
{
    (void)arg;
    my_lock_enter(&lock);
    total += 5;
    my_lock_leave(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return total != 10;
}
