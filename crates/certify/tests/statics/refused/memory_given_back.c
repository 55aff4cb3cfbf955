// The page loses its contents while another thread reads it.
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>

static int *page;

static void *worker(void *arg)
{
    return *page ? arg : NULL;
}

int main(void)
{
    pthread_t t;
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_create(&t, NULL, worker, NULL);
    madvise(page, 4096, MADV_DONTNEED);
    pthread_join(t, NULL);
    return 0;
}
