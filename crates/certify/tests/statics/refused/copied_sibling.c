// The creator copies the first argument, which its thread is writing, to each new one.
#include <pthread.h>
#include <string.h>

struct arg {
    long id, more[8];
};

static struct arg args[1000];

static void *worker(void *p)
{
    struct arg *a = p;
    a->id++;
    return NULL;
}

int main(int argc, char **argv)
{
    (void)argv;
    for (int i = 0; i < argc; i++) {
        pthread_t t;
        memcpy(&args[i], &args[0], sizeof args[0]);
        pthread_create(&t, NULL, worker, &args[i]);
    }
    pthread_exit(NULL);
}
