//@ verdict: race
//@ threads: any
// Main completes a task that is in the pool already.
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
        task->value++; // RACE#1: task->value
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
        pthread_mutex_lock(&m);
        task->next = pool; // NORACE: pool; NORACE: task->next
        pool = task; // NORACE: pool
        pthread_mutex_unlock(&m);
        task->value = 1; // RACE#1: task->value
    }
    pthread_exit(NULL);
}
