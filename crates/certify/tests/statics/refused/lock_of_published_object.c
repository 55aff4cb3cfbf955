// The lock in the object is made after the other thread was told of the object.
#include <pthread.h>
#include <stdlib.h>

struct node {
    pthread_mutex_t m;
    int value;
};

static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static struct node *head;

static void *worker(void *arg)
{
    pthread_mutex_lock(&list);
    struct node *n = head;
    pthread_mutex_unlock(&list);
    if (n) {
        pthread_mutex_lock(&n->m);
        n->value++;
        pthread_mutex_unlock(&n->m);
    }
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    struct node *fresh = calloc(1, sizeof *fresh);
    pthread_mutex_lock(&list);
    head = fresh;
    pthread_mutex_unlock(&list);
    pthread_mutex_init(&fresh->m, NULL);
    pthread_mutex_lock(&fresh->m);
    fresh->value++;
    pthread_mutex_unlock(&fresh->m);
    pthread_join(t, NULL);
    return 0;
}
