//@ verdict: safe
//@ threads: 2
// Dropping a reference releases what its owner did and acquires what the others did.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int references = 2;
static int parts[2];
static int sum;

static void *owner(void *arg)
{
    int me = arg != NULL;
    parts[me] = 1; // NORACE: parts[me]
    if (atomic_fetch_sub_explicit(&references, 1, memory_order_acq_rel) == 1)
        sum = parts[0] + parts[1]; // NORACE: parts[0]; NORACE: parts[1]; NORACE: sum
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
