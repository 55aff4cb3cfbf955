//@ verdict: safe
//@ threads: any
// Each owner reads the object before it drops its reference; who drops the last one writes and frees it.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

struct object {
    atomic_uint references;
    int value;
};

static struct object *object;

static void *owner(void *arg)
{
    int seen = object->value; // NORACE: object->value
    if (atomic_fetch_sub(&object->references, 1) == 1) {
        object->value = 0; // NORACE: object->value
        free(object);
    }
    (void)seen;
    return arg;
}

int main(void)
{
    unsigned n = __VERIFIER_nondet_uint();
    object = malloc(sizeof *object);
    if (!object)
        return 1;
    object->value = 42;
    atomic_init(&object->references, n);
    for (unsigned i = 0; i < n; i++) {
        pthread_t t;
        pthread_create(&t, NULL, owner, NULL);
    }
    pthread_exit(NULL);
}
