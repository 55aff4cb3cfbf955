#include <stdatomic.h>
#include <stdio.h>
#include <threads.h>
static mtx_t lock;
static cnd_t changed;
static int state;
static atomic_int flag;
static int published;
static int worker(void *arg)
{
    published = 5;
    atomic_store_explicit(&flag, 1, memory_order_release);
    mtx_lock(&lock);
    state = 1;
    cnd_signal(&changed);
    mtx_unlock(&lock);
    return *(int *)arg;
}
int main(void)
{
    thrd_t a;
    int argument = 4, result = 0;
    mtx_init(&lock, mtx_plain);
    cnd_init(&changed);
    thrd_create(&a, worker, &argument);
    mtx_lock(&lock);
    while (state == 0)
        cnd_wait(&changed, &lock);
    mtx_unlock(&lock);
    while (!atomic_load_explicit(&flag, memory_order_acquire))
        ;
    printf("%d\n", published);
    thrd_join(a, &result);
    return result;
}
