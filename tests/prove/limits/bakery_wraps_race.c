//@ verdict: race
//@ threads: 2
// The bakery with numbers of two bits: one who saw the highest gets 0 and does not count as waiting.
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
        number[me] = (number[other] + 1) & 3;
        choosing[me] = 0;
        while (choosing[other])
            ;
        for (unsigned theirs; (theirs = number[other]) != 0;)
            if (number[me] < theirs || (number[me] == theirs && me < other))
                break;
        x++; // RACE#1: x
        number[me] = 0;
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
