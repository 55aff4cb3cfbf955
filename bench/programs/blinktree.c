// BlinkTree: one level of a concurrent B-link tree, a list of containers with up to CAPACITY data nodes each. A container and its data nodes
// are protected by the container's lock. Insert may split a container, delete may take a data node over from the right neighbour,
// so the lock that protects a data node changes. Operations lock from left to right, two containers at most. -DUNLOCKED makes lookup
// read the datum after it gave up the lock.
// After Sagiv, "Concurrent Operations on B*-Trees with Overtaking" (1985); an example of the 2006 paper (Elmas, Qadeer, Tasiran,
// MSR-TR-2005-118, section 7).
//@ check: -DINSERTERS=1 -DDELETERS=1 -DLOOKERS=0 safe
//@ check: -DINSERTERS=1 -DDELETERS=1 -DLOOKERS=1 safe
//@ check: -DINSERTERS=0 -DDELETERS=1 -DLOOKERS=1 -DUNLOCKED race use-after-free
//@ bench: -DINSERTERS=1 -DDELETERS=1 -DLOOKERS=1
#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#ifndef INSERTERS
#define INSERTERS 1
#endif
#ifndef DELETERS
#define DELETERS 1
#endif
#ifndef LOOKERS
#define LOOKERS 1
#endif
#define CAPACITY 2

struct data {
    int key;
    int datum;
};

struct container {
    pthread_mutex_t lock;
    int high; /* the largest key that may be in here */
    int used;
    struct data *data[CAPACITY];
    struct container *right;
};

static struct container *leftmost;

static struct container *new_container(int high, struct container *right)
{
    struct container *c = malloc(sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    c->high = high;
    c->used = 0;
    c->right = right;
    return c;
}

/* The container where the key belongs, locked. */
static struct container *find(int key)
{
    struct container *c = leftmost;
    pthread_mutex_lock(&c->lock);
    while (key > c->high) {
        struct container *right = c->right;
        pthread_mutex_lock(&right->lock);
        pthread_mutex_unlock(&c->lock);
        c = right;
    }
    return c;
}

static void put(struct container *c, struct data *data)
{
    int at = c->used++;
    while (at > 0 && c->data[at - 1]->key > data->key) {
        c->data[at] = c->data[at - 1];
        at--;
    }
    c->data[at] = data;
}

static void insert(int key, int datum)
{
    struct container *c = find(key);
    for (int i = 0; i < c->used; i++) {
        if (c->data[i]->key == key) {
            c->data[i]->datum = datum;
            pthread_mutex_unlock(&c->lock);
            return;
        }
    }
    struct data *data = malloc(sizeof *data);
    data->key = key;
    data->datum = datum;
    if (c->used == CAPACITY) {
        struct container *right = new_container(c->high, c->right);
        c->used--;
        put(right, c->data[c->used]);
        c->high = c->data[c->used - 1]->key;
        c->right = right;
        if (key > c->high) {
            put(right, data);
            pthread_mutex_unlock(&c->lock);
            return;
        }
    }
    put(c, data);
    pthread_mutex_unlock(&c->lock);
}

static int delete_key(int key)
{
    int found = 0;
    struct container *c = find(key);
    for (int i = 0; i < c->used; i++) {
        if (c->data[i]->key == key) {
            free(c->data[i]);
            c->used--;
            for (int k = i; k < c->used; k++)
                c->data[k] = c->data[k + 1];
            found = 1;
            break;
        }
    }
    if (c->used == 0 && c->right != NULL) {
        struct container *right = c->right;
        pthread_mutex_lock(&right->lock);
        if (right->used > 1) {
            c->data[0] = right->data[0];
            c->used = 1;
            c->high = c->data[0]->key;
            right->used--;
            for (int k = 0; k < right->used; k++)
                right->data[k] = right->data[k + 1];
        }
        pthread_mutex_unlock(&right->lock);
    }
    pthread_mutex_unlock(&c->lock);
    return found;
}

/* The datum, or -1. */
static int lookup(int key)
{
    int datum = -1;
    struct container *c = find(key);
    struct data *data = NULL;
    for (int i = 0; i < c->used; i++) {
        if (c->data[i]->key == key)
            data = c->data[i];
    }
#ifdef UNLOCKED
    pthread_mutex_unlock(&c->lock);
    if (data)
        datum = data->datum;
#else
    if (data)
        datum = data->datum;
    pthread_mutex_unlock(&c->lock);
#endif
    return datum;
}

static void *inserter(void *arg)
{
    (void)arg;
    insert(25, 250);
    insert(5, 50);
    return NULL;
}

static void *deleter(void *arg)
{
    (void)arg;
    delete_key(10);
    delete_key(20);
    return NULL;
}

static void *looker(void *arg)
{
    (void)arg;
    int datum = lookup(10);
    assert(datum == -1 || datum == 100);
    datum = lookup(30);
    assert(datum == 300);
    return NULL;
}

static void start(pthread_t *threads, int *count, int copies, void *(*body)(void *))
{
    for (int i = 0; i < copies; i++)
        pthread_create(&threads[(*count)++], NULL, body, NULL);
}

int main(void)
{
    pthread_t threads[INSERTERS + DELETERS + LOOKERS];
    int count = 0;
    leftmost = new_container(INT_MAX, NULL);
    insert(10, 100);
    insert(20, 200);
    insert(30, 300);
    start(threads, &count, INSERTERS, inserter);
    start(threads, &count, DELETERS, deleter);
    start(threads, &count, LOOKERS, looker);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    if (DELETERS)
        assert(lookup(10) == -1 && lookup(20) == -1);
    if (INSERTERS)
        assert(lookup(25) == 250 && lookup(5) == 50);
    assert(lookup(30) == 300);
    return 0;
}
