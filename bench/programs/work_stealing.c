// Work-stealing queue: the owner pushes ITEMS tasks and pops at the tail, THIEVES thieves steal once each at the head. Cilk's THE protocol: a
// thief takes the lock, the owner only when they may meet at the last task. Every task is done once. -DNOLOCK leaves the lock out of
// the owner's slow path, so that a task may be done twice.
// Frigo, Leiserson and Randall, "The Implementation of the Cilk-5 Multithreaded Language" (PLDI 1998), section 5.
//@ check: -DITEMS=1 -DTHIEVES=1 safe
//@ check: -DITEMS=2 -DTHIEVES=1 safe
//@ check: -DITEMS=1 -DTHIEVES=2 safe
//@ check: -DITEMS=1 -DTHIEVES=1 -DNOLOCK race
//@ bench: -DITEMS=2 -DTHIEVES=1
//@ bench: -DITEMS=2 -DTHIEVES=2
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef ITEMS
#define ITEMS 2
#endif
#ifndef THIEVES
#define THIEVES 1
#endif

struct task {
    int times;
};

static struct task tasks[ITEMS];
static struct task *queue[ITEMS];
static atomic_int head, tail;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void push(struct task *task)
{
    int t = atomic_load(&tail);
    queue[t] = task;
    atomic_store(&tail, t + 1);
}

static struct task *pop(void)
{
    int t = atomic_load(&tail) - 1;
    atomic_store(&tail, t);
    if (atomic_load(&head) <= t)
        return queue[t];
#ifdef NOLOCK
    if (t >= 0 && atomic_load(&head) <= t + 1) {
        atomic_store(&tail, t + 1);
        return queue[t];
    }
    return NULL;
#else
    struct task *task = NULL;
    pthread_mutex_lock(&lock);
    if (atomic_load(&head) <= t)
        task = queue[t];
    else
        atomic_store(&tail, t + 1);
    pthread_mutex_unlock(&lock);
    return task;
#endif
}

static struct task *steal(void)
{
    struct task *task = NULL;
    pthread_mutex_lock(&lock);
    int h = atomic_load(&head);
    atomic_store(&head, h + 1);
    if (h + 1 <= atomic_load(&tail))
        task = queue[h];
    else
        atomic_store(&head, h);
    pthread_mutex_unlock(&lock);
    return task;
}

static void *thief(void *arg)
{
    (void)arg;
    struct task *task = steal();
    if (task)
        task->times++;
    return NULL;
}

int main(void)
{
    pthread_t thieves[THIEVES];
    for (int i = 0; i < THIEVES; i++)
        pthread_create(&thieves[i], NULL, thief, NULL);
    for (int i = 0; i < ITEMS; i++)
        push(&tasks[i]);
    for (int i = 0; i < ITEMS; i++) {
        struct task *task = pop();
        if (task)
            task->times++;
    }
    for (int i = 0; i < THIEVES; i++)
        pthread_join(thieves[i], NULL);
#ifndef NOLOCK
    for (int i = 0; i < ITEMS; i++)
        assert(tasks[i].times == 1);
#endif
    return 0;
}
