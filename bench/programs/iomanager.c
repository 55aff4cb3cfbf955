// IOManager: the life of an I/O request packet. One thread creates it and queues it as pending, one completes it, one cancels it, one
// does the post-processing of what was completed or cancelled. Two locked queues, and flags that are volatile in the original (atomic
// here). Each queue hands the packet on; whoever took it from a queue owns it. REQUESTS packets. -DPEEK lets the canceller look at
// the packet without taking it from the queue.
// After the I/O manager example of the 2006 paper (Elmas, Qadeer, Tasiran, MSR-TR-2005-118, section 7).
//@ check: -DREQUESTS=1 safe
//@ check: -DREQUESTS=1 -DPEEK race use-after-free
//@ bench: -DREQUESTS=1
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef REQUESTS
#define REQUESTS 1
#endif

enum status { NEW, COMPLETED, CANCELLED };

struct irp {
    enum status status;
    int bytes;
    struct irp *next;
};

struct queue {
    pthread_mutex_t lock;
    struct irp *head;
};

static struct queue pending = { PTHREAD_MUTEX_INITIALIZER, NULL };
static struct queue finished = { PTHREAD_MUTEX_INITIALIZER, NULL };
static atomic_int queued, done, cancelling;

static void enqueue(struct queue *queue, struct irp *irp)
{
    pthread_mutex_lock(&queue->lock);
    irp->next = queue->head;
    queue->head = irp;
    pthread_mutex_unlock(&queue->lock);
}

static struct irp *dequeue(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    struct irp *irp = queue->head;
    if (irp)
        queue->head = irp->next;
    pthread_mutex_unlock(&queue->lock);
    return irp;
}

static void finish(struct irp *irp, enum status status)
{
    irp->status = status;
    enqueue(&finished, irp);
    atomic_fetch_add(&done, 1);
}

static void *create(void *arg)
{
    (void)arg;
    for (int i = 0; i < REQUESTS; i++) {
        struct irp *irp = malloc(sizeof *irp);
        irp->status = NEW;
        irp->bytes = 0;
        enqueue(&pending, irp);
        atomic_fetch_add(&queued, 1);
    }
    return NULL;
}

static void *complete(void *arg)
{
    (void)arg;
    while (atomic_load(&queued) < REQUESTS)
        ;
    for (int i = 0; i < REQUESTS; i++) {
        struct irp *irp = dequeue(&pending);
        if (irp == NULL)
            break;
        assert(irp->status == NEW);
        irp->bytes = 512;
        finish(irp, COMPLETED);
    }
    return NULL;
}

static void *cancel(void *arg)
{
    (void)arg;
    atomic_store(&cancelling, 1);
#ifdef PEEK
    pthread_mutex_lock(&pending.lock);
    struct irp *seen = pending.head;
    pthread_mutex_unlock(&pending.lock);
    if (seen && seen->status != NEW)
        return NULL;
#endif
    struct irp *irp = dequeue(&pending);
    if (irp) {
        assert(irp->status == NEW);
        finish(irp, CANCELLED);
    }
    return NULL;
}

static void *post_process(void *arg)
{
    (void)arg;
    while (atomic_load(&done) < REQUESTS)
        ;
    for (int i = 0; i < REQUESTS; i++) {
        struct irp *irp = dequeue(&finished);
        assert(irp != NULL);
        if (irp->status == COMPLETED)
            assert(irp->bytes == 512);
        else
            assert(irp->status == CANCELLED && irp->bytes == 0 && atomic_load(&cancelling));
        free(irp);
    }
    return NULL;
}

int main(void)
{
    void *(*bodies[])(void *) = { create, complete, cancel, post_process };
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, bodies[i], NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
