// The semaphore is initialised on one way only, in a function: on the other nobody knows whether it lets a thread through.
#include <pthread.h>

struct semaphore { int count; };
extern void sema_init(struct semaphore *s, int count);
extern void down(struct semaphore *s);
extern void up(struct semaphore *s);
extern _Bool __VERIFIER_nondet_bool(void);

static int counter;
static struct semaphore s;

static void *worker(void *arg)
{
    down(&s);
    counter++;
    return arg;
}

static void prepare(void)
{
    if (__VERIFIER_nondet_bool())
        sema_init(&s, 0);
}

int main(void)
{
    pthread_t t;
    prepare();
    pthread_create(&t, NULL, worker, NULL);
    counter++;
    up(&s);
    pthread_join(t, NULL);
    return 0;
}
