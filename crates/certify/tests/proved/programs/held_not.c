// Another mode comes to the access, without the lock.
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int data, other;

static void step(int mode)
{
    if (mode & 1)
        pthread_mutex_lock(&mutex);
    __atomic_fetch_add(&other, 1, __ATOMIC_SEQ_CST); // INV: (or (= ((_ extract 0 0) {r:mode}) #b0) (= {h:mutex} #b10))
    if (mode == 6)
        data++; // INV: (and (= {r:mode} #x00000006) (= {h:mutex} #b10))
    if (mode & 1)
        pthread_mutex_unlock(&mutex);
}

void *worker(void *arg)
{
    step((int)(long)arg);
    return arg;
}

int main(int count, char **names)
{
    (void)names;
    for (;;) {
        pthread_t one;
        pthread_create(&one, 0, worker, (void *)(long)count++);
    }
}
