//@ static: safe A-THREAD !A-LOCK !A-SIGNAL
// A plain mutex does not fail, and nothing interrupts. The creation may fail, and the join with it.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x, y;

static void *worker(void *p)
{
    pthread_mutex_lock(&lock);
    x++;
    pthread_mutex_unlock(&lock);
    y = 1;
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_mutex_lock(&lock);
    x++;
    pthread_mutex_unlock(&lock);
    pthread_join(t, 0);
    y = 2;
    return 0;
}
