//@ verdict: safe
//@ threads: any
// The result of trylock is kept in a structure of the thread until it lets go.
#include <pthread.h>

struct session {
    int held;
    unsigned done;
};

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned x;

static void begin(struct session *s)
{
    s->held = pthread_mutex_trylock(&m) == 0;
}

static void end(struct session *s)
{
    if (s->held)
        pthread_mutex_unlock(&m);
}

static void *thread(void *arg)
{
    struct session s = {0, 0};
    while (s.done < 3) {
        begin(&s);
        if (s.held)
            x++; // NORACE: x
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
