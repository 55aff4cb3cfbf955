// The creator reads the template of the arguments while threads write it.
#include <pthread.h>
#include <string.h>

struct arg {
    long id, more[8];
};

static struct arg template, args[1000];

static void *worker(void *p)
{
    struct arg *a = p;
    a->id++;
    template.id = 1;
    return NULL;
}

int main(int argc, char **argv)
{
    (void)argv;
    for (int i = 0; i < argc; i++) {
        pthread_t t;
        memcpy(&args[i], &template, sizeof template);
        pthread_create(&t, NULL, worker, &args[i]);
    }
    pthread_exit(NULL);
}
