// The second map replaces the first.
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>

static void *worker(void *arg)
{
    int *p = mmap(arg, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    *p = 1;
    return NULL;
}

int main(void)
{
    pthread_t t;
    int *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_create(&t, NULL, worker, p);
    *p = 2;
    pthread_join(t, NULL);
    return 0;
}
