//@ verdict: race
//@ threads: 2
// The bakery whose threads do not wait while the other is choosing its number.
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint choosing[2], number[2];
static unsigned x;

static void *thread(void *arg)
{
    unsigned me = arg != NULL;
    unsigned other = 1 - me;
    for (;;) {
        choosing[me] = 1;
        unsigned seen = number[other];
        if (seen == UINT_MAX)
            break;
        number[me] = seen + 1;
        choosing[me] = 0;
        for (unsigned theirs; (theirs = number[other]) != 0;)
            if (number[me] < theirs || (number[me] == theirs && me < other))
                break;
        x++; // RACE#1: x
        number[me] = 0;
    }
    choosing[me] = 0;
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
