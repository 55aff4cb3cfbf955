//@ verdict: safe
//@ deadlocks: none
// Two threads walk a list; each holds the lock of the next node before it lets go of the last.
#include <pthread.h>

struct node {
    pthread_mutex_t lock;
    int value;
};
static struct node list[3] = {
    {PTHREAD_MUTEX_INITIALIZER, 0},
    {PTHREAD_MUTEX_INITIALIZER, 0},
    {PTHREAD_MUTEX_INITIALIZER, 0},
};

static void *walk(void *arg)
{
    int i;
    pthread_mutex_lock(&list[0].lock);
    for (i = 0; i < 2; i++) {
        list[i].value++; // NORACE: list[].value
        pthread_mutex_lock(&list[i + 1].lock);
        pthread_mutex_unlock(&list[i].lock);
    }
    list[2].value++; // NORACE: list[].value
    pthread_mutex_unlock(&list[2].lock);
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, walk, NULL);
    pthread_create(&t, NULL, walk, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return list[2].value < 0;
}
