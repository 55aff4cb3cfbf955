/* A wait loop that waits and one that never does; a queue of its own for each. */
#include <pthread.h>
#include <stdlib.h>
struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t opened;
    int open;
};
static struct gate early = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
static struct gate late = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
static void pass(struct gate *gate)
{
    pthread_mutex_lock(&gate->mutex);
    while (!gate->open)
        pthread_cond_wait(&gate->opened, &gate->mutex);
    pthread_mutex_unlock(&gate->mutex);
}
static void open_up(struct gate *gate)
{
    pthread_mutex_lock(&gate->mutex);
    gate->open = 1;
    pthread_cond_signal(&gate->opened);
    pthread_mutex_unlock(&gate->mutex);
}
static void *other(void *arg)
{
    pass(&early);
    open_up(&late);
    return arg;
}
int main(void)
{
    pthread_t thread;
    open_up(&early);
    pthread_mutex_lock(&late.mutex);
    pthread_create(&thread, NULL, other, NULL);
    while (!late.open)
        pthread_cond_wait(&late.opened, &late.mutex);
    pthread_mutex_unlock(&late.mutex);
    pthread_join(thread, NULL);
    return 0;
}
