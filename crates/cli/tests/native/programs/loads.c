#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static void *worker(void *arg)
{
    ((void (*)(void))arg)();
    return NULL;
}
int main(int argc, char **argv)
{
    void *plugin = dlopen(argv[argc - 1], RTLD_NOW);
    if (!plugin) {
        puts(dlerror());
        return 8;
    }
    void *bump = dlsym(plugin, "bump");
    pthread_t a, b;
    pthread_create(&a, NULL, worker, bump);
    pthread_create(&b, NULL, worker, bump);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    puts("loaded");
    return 0;
}
