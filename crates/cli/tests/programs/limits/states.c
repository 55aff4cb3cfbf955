// Millions of states and executions: work for every search.
//@ limits: explore --search stateful --time-limit 3
//@ limits: explore --certificate tree.cert --time-limit 3
//@ limits: check --time-limit 3
#include <pthread.h>
#include <stdatomic.h>
atomic_int cells[16];
void *worker(void *arg)
{
    long id = (long)arg;
    for (int i = 0; i < 16; i++)
        atomic_fetch_add(&cells[(i * 7 + id) % 16], (int)id + i);
    return arg;
}
int main(void)
{
    pthread_t t[6];
    for (long i = 0; i < 6; i++)
        pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < 6; i++)
        pthread_join(t[i], 0);
    return 0;
}
