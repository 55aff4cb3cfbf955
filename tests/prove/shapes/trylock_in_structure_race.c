//@ verdict: race
//@ threads: any
// The result is kept inverted by the lock function and read as it is by the caller.
#include <pthread.h>

struct session {
    int held;
    unsigned done;
};

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned x;

static void begin(struct session *s)
{
    s->held = pthread_mutex_trylock(&m) != 0;
}

static void end(struct session *s)
{
    if (!s->held)
        pthread_mutex_unlock(&m);
}

static void *thread(void *arg)
{
    struct session s = {0, 0};
    while (s.done < 3) {
        begin(&s);
        if (s.held)
            x++; // RACE#1: x
        s.done++;
        end(&s);
    }
    return arg;
}

int main(void)
{
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
    }
}
