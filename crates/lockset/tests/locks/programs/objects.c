// Locks inside objects, by pointer: names follow the pointer and die with it.
#include <pthread.h>
#include <stdlib.h>
void locks(const char *);

struct node {
    struct node *next;
    pthread_mutex_t lock;
    int n;
};
static struct node *head;
static pthread_mutex_t g = PTHREAD_MUTEX_INITIALIZER;

static void add(struct node *p)
{
    locks("p.8");
    p->n++;
}

static void lock_node(struct node *p) { pthread_mutex_lock(&p->lock); }
static void unlock_node(struct node *p) { pthread_mutex_unlock(&p->lock); }

static void walk(void)
{
    for (struct node *q = head; q; q = q->next) {
        locks("");
        pthread_mutex_lock(&q->lock);
        locks("q.8");
        add(q);
        pthread_mutex_unlock(&q->lock);
    }
    for (struct node *q = head; q; q = q->next) {
        lock_node(q);
        locks("q.8");
        add(q);
        unlock_node(q);
        locks("");
    }
}

static void leaks_in_the_loop(void)
{
    struct node *q = head;
    while (q) {
        locks("");
        pthread_mutex_lock(&q->lock);
        q = q->next;
        locks("q.8");
    }
}

static void two(struct node *x, struct node *y)
{
    pthread_mutex_lock(&x->lock);
    pthread_mutex_lock(&y->lock);
    locks("x.8 y.8");
    pthread_mutex_unlock(&y->lock);
    locks("x.8");
    pthread_mutex_unlock(&x->lock);
    locks("");
}

static void perhaps_the_same(struct node *x, struct node *y)
{
    pthread_mutex_lock(&x->lock);
    pthread_mutex_lock(&g);
    locks("x.8{g} g");
    pthread_mutex_unlock(&y->lock);
    locks("g");
    pthread_mutex_unlock(&g);
}

struct pair {
    pthread_mutex_t first, second;
};
static struct pair pairs[4];

static void parts(struct pair *p, int i, int j)
{
    pthread_mutex_lock(&p->first);
    pthread_mutex_lock(&p->second);
    locks("p p.40");
    pthread_mutex_unlock(&p->second);
    locks("p");
    pthread_mutex_unlock(&p->first);
    pthread_mutex_lock(&pairs[1].first);
    pthread_mutex_unlock(&pairs[2].first);
    locks("pairs.80");
    pthread_mutex_unlock(&pairs[i].second);
    locks("pairs.80");
    pthread_mutex_unlock(&pairs[j].first);
    locks("");
}

static struct node *locked(void)
{
    struct node *n = head;
    pthread_mutex_lock(&n->lock);
    return n;
}

static struct node *locked_if_there(void)
{
    struct node *n = head;
    if (!n)
        return NULL;
    pthread_mutex_lock(&n->lock);
    return n;
}

static void given(void)
{
    struct node *mine = locked();
    locks("mine.8");
    pthread_mutex_unlock(&mine->lock);
    struct node *other = locked_if_there();
    locks("");
    if (other) {
        locks("other.8");
        pthread_mutex_unlock(&other->lock);
    }
}

static void renewed(struct node *x)
{
    pthread_mutex_lock(&x->lock);
    locks("x.8");
    pthread_mutex_destroy(&x->lock);
    locks("");
    pthread_mutex_init(&x->lock, NULL);
    locks("");
}

static struct node *make(void)
{
    struct node *n = calloc(1, sizeof *n);
    pthread_mutex_init(&n->lock, NULL);
    return n;
}

int main(int argc, char **argv)
{
    (void)argv;
    for (int i = 0; i < argc; i++) {
        struct node *n = make();
        n->next = head;
        head = n;
    }
    for (int i = 0; i < 2; i++) {
        walk();
        leaks_in_the_loop();
        two(head, head->next);
        perhaps_the_same(head, head->next);
        parts(&pairs[argc & 3], argc & 3, rand() & 3);
        given();
        renewed(head->next);
    }
    two(head->next, head);
    renewed(head);
    perhaps_the_same(head->next, head);
    parts(&pairs[1], rand() & 3, argc & 3);
    return 0;
}
