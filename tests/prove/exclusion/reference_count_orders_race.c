//@ verdict: race
//@ threads: 2
// Dropping a reference with relaxed order hands nothing over to the last one.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int references = 2;
static int parts[2];
static int sum;

static void *owner(void *arg)
{
    int me = arg != NULL;
    parts[me] = 1; // RACE#1: parts[me]
    if (atomic_fetch_sub_explicit(&references, 1, memory_order_relaxed) == 1)
        sum = parts[0] + parts[1]; // RACE#1: parts[me]; NORACE: sum
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, owner, NULL);
    pthread_create(&b, NULL, owner, (void *)1L);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
