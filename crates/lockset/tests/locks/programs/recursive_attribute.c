// A recursive mutex by attribute: each lock needs its unlock, also across calls.
#include <pthread.h>
void locks(const char *);
static pthread_mutex_t r;

static void inner(void)
{
    locks("r");
    pthread_mutex_lock(&r);
    locks("r*2");
    pthread_mutex_unlock(&r);
    locks("r");
}

static void leave(void)
{
    locks("r*2");
    pthread_mutex_unlock(&r);
    locks("");
}

int main(void)
{
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&r, &how);
    pthread_mutex_lock(&r);
    inner();
    locks("r");
    pthread_mutex_lock(&r);
    leave();
    locks("");
    pthread_mutex_unlock(&r);
    locks("");
    return 0;
}
