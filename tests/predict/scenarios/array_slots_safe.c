//@ verdict: safe
//@ deadlocks: none
// Each thread has its own slots of one array, next to those of the other.
#include <pthread.h>

int slots[6];
static int ids[2] = {0, 1};

static void *worker(void *arg)
{
    int id = *(int *)arg, i;
    for (i = 0; i < 3; i++)
        slots[2 * i + id] = i; // NORACE: slots
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, worker, &ids[0]);
    pthread_create(&t, NULL, worker, &ids[1]);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return slots[0] + slots[5] < 0;
}
