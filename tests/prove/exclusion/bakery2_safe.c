//@ verdict: safe
//@ threads: 2
// The bakery for two threads: the lower number goes first; who sees the largest number of all goes home.
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
        while (choosing[other])
            ;
        for (unsigned theirs; (theirs = number[other]) != 0;)
            if (number[me] < theirs || (number[me] == theirs && me < other))
                break;
        x++; // NORACE: x
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
