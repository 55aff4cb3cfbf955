//@ verdict: race
//@ threads: 2
//@ thread-modular: no
// The second thread believes that the token is handed to it first.
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint moves;
static unsigned x;

static void *thread(void *arg)
{
    unsigned mine = 0;
    for (;;) {
        while (atomic_load(&moves) != mine)
            ;
        x++; // RACE#1: x
        atomic_fetch_add(&moves, arg == NULL);
        mine++;
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, (void *)1L);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
