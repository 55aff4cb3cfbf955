// Expressions as the programmer wrote them.
typedef unsigned long size_t;
void *malloc(size_t);
struct item { int count; char tag; struct item *next; };
typedef struct { int lock; struct item items[4]; int head, tail; struct item *last; } queue;
struct pair { int x, y; };
static queue q;
int counter, *shared, table[3][5], list[8];
struct pair pairs[4];
union view { int i; float f; struct { short low, high; } half; } view;
//@ global q 88 64
//@ global table 60
//@ global view 4

void globals(int i, int j)
{
    counter++; // IS: load counter; store counter
    *shared = 1; // IS: load shared; store *shared
    shared[i] = 2; // IS: load shared; store shared[i]
    table[i][j] = 3; // IS: store table[i][j]
    table[1][j] = 3; // IS: store table[1][j]
    table[i][2] = 4; // IS: store table[i][2]
    table[2][4] = 5; // IS: store table[2][4]
    list[i + 1] = 6; // IS: store list[...]
    list[counter] = 7; // IS: load counter; store list[counter]
    pairs[i].y = 8; // IS: store pairs[i].y
    pairs[2].x = 9; // IS: store pairs[2].x
    q.items[i].count += 1; // IS: load q.items[i].count; store q.items[i].count
    q.items[q.tail].tag = 1; // IS: load q.tail; store q.items[q.tail].tag
    q.last->next->count = 1; // IS: load q.last; load q.last->next; store q.last->next->count
    view.i = 1; // IS: store view.i
    view.f = 2; // IS: store view.f
    view.half.high = 3; // IS: store view.half.high
}

int pointers(queue *p, int *n, struct pair *z, char **words, int i)
{
    p->head = 1; // IS: store p->head
    p->items[i].tag = 2; // IS: store p->items[i].tag
    p->last->count++; // IS: load p->last; load p->last->count; store p->last->count
    *n = 3; // IS: store *n
    n[2] = 4; // IS: store n[2]
    n[i] = 5; // IS: store n[i]
    z[i].y = 6; // IS: store z[i].y
    z->x = 7; // IS: store z->x
    words[i][3] = 'a'; // IS: load words[i]; store words[i][3]
    return p->items[3].next->tag; // IS: load p->items[3].next; load p->items[3].next->tag
}

void *void_argument(void *arg)
{
    queue *mine = arg;
    mine->tail = 1; // IS: store mine->tail
    struct item *it = &mine->items[2];
    it->count = 2; // IS: store it->count
    return arg;
}

void locals(int n)
{
    struct pair here = { 1, 2 };
    int *escapes = &here.y;
    here.x = 3; // IS: store here.x
    *escapes = 4; // IS: store here.y
    int vla[n]; // IS: stack save
    vla[n - 1] = 5; // IS: store vla[...]
    struct item *fresh = malloc(sizeof *fresh); // IS: call malloc(_)
    fresh->tag = 6; // IS: store fresh->tag
    for (int *p = list; p < list + 8; p++)
        *p = 7; // IS: store *p
}

void take(void *);
void copies(queue *p, struct pair by_value, int i)
{
    q = *p; // IS: memCopy q from *p
    pairs[i] = pairs[0]; // IS: memCopy pairs[i] from pairs[0]
    p->items[1] = q.items[i]; // IS: memCopy p->items[1] from q.items[i]
    by_value.x = 1; // IS: store by_value.x
    take(&p->items[i]); // IS: call take(&p->items[i])
    take(&q); // IS: call take(&q)
    take(p->last); // IS: load p->last; call take(&*p->last)
    take("text"); // IS: call take(_)
    take(&p->lock); // IS: call take(&p->lock)
}

int function_static(void)
{
    static int calls;
    return calls++; // IS: load calls; store calls
}

typedef struct { int kind; } pthread_mutex_t;
int pthread_mutex_lock(pthread_mutex_t *);
static struct { pthread_mutex_t m; int n; } guarded, many[3];
void locks(int i)
{
    pthread_mutex_lock(&guarded.m); // IS: call pthread_mutex_lock(&guarded.m)
    pthread_mutex_lock(&many[i].m); // IS: call pthread_mutex_lock(&many[i].m)
}
