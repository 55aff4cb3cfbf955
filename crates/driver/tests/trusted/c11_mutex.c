//@ static: safe A-LOCK A-THREAD
// `mtx_lock` may return `thrd_error`; nobody looks at its result.
#include <threads.h>

static mtx_t lock;
static int x;

static int worker(void *p)
{
    (void)p;
    mtx_lock(&lock);
    x++;
    mtx_unlock(&lock);
    return 0;
}

int main(void)
{
    thrd_t t;
    mtx_init(&lock, mtx_plain);
    thrd_create(&t, worker, 0);
    worker(0);
    thrd_join(t, 0);
    return 0;
}
