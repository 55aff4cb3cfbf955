// Large blocks that are copied without a visible operation in between.
//@ limits: explore --time-limit 3
//@ limits: check --time-limit 3
//@ limits: check --memory-limit 500M --time-limit 60
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
void *worker(void *arg) {
    char *p = 0;
    size_t size = 100u << 20;
    for (;;) {
        p = realloc(p, size + (size_t)(rand() % 4096));
        p[0] = 1;
    }
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    worker(0);
    return 0;
}
