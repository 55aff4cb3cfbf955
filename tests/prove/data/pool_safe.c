//@ verdict: safe
//@ threads: any
// A task is written before main puts it into the pool under the mutex; it belongs to the worker that took it.
#include <pthread.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

struct task {
    struct task *next;
    int value;
};

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static struct task *pool;

static void *worker(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&m);
        struct task *task = pool; // NORACE: pool
        if (task)
            pool = task->next; // NORACE: pool; NORACE: task->next
        pthread_mutex_unlock(&m);
        if (!task)
            return arg;
        task->value++; // NORACE: task->value
        free(task);
    }
}

int main(void)
{
    unsigned workers = __VERIFIER_nondet_uint();
    for (unsigned i = 0; i < workers; i++) {
        pthread_t t;
        pthread_create(&t, NULL, worker, NULL);
    }
    for (unsigned tasks = __VERIFIER_nondet_uint(); tasks > 0; tasks--) {
        struct task *task = malloc(sizeof *task);
        if (!task)
            break;
        task->value = 1; // NORACE: task->value
        pthread_mutex_lock(&m);
        task->next = pool; // NORACE: pool; NORACE: task->next
        pool = task; // NORACE: pool
        pthread_mutex_unlock(&m);
    }
    pthread_exit(NULL);
}
