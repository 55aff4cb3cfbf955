#include <stddef.h>
#include <string.h>
void sync_point(void);
int unknown(void);
int g, h;
int a[100], b[100];
volatile int flag;
_Atomic int atom;

// CASE two reads of one variable
// CHECKS: read4=1
int f(void) { int x = g; int y = g; return x + y; }

// CASE two reads with a call between them
// CHECKS: read4=2
int f(void) { int x = g; sync_point(); int y = g; return x + y; }

// CASE two reads with an atomic between them
// CHECKS: read4=2 atomic_enter=1 atomic_leave=1
int f(void) { int x = g; atom = 1; int y = g; return x + y; }

// CASE a read before a write
// CHECKS: write4=1
void f(void) { g = g + 1; }

// CASE a read after a write
// CHECKS: write4=1
int f(void) { g = 1; return g; }

// CASE a write after a read that a call separates
// CHECKS: read4=1 write4=1
void f(void) { int x = g; sync_point(); g = x; }

// CASE two variables
// CHECKS: read4=1 write4=1
void f(void) { g = h; }

// CASE the branch that writes does not speak for the other
// CHECKS: read4=1 write4=1
int f(int c) { if (c) g = 1; return g; }

// CASE both branches speak for what follows
// CHECKS: read4=2
int f(int c) { int x; if (c) x = g; else x = g + 1; return x + g; }

// CASE a spin loop keeps its read, the code after it its reads and writes
// CHECKS: read4=2 write4=1
void f(void) { while (!flag); int x = g; int y = g; g = x; g = y + 1; h; }

// CASE locals are not checked
// CHECKS:
int f(int n) { int x[10]; for (int i = 0; i < 10; i++) x[i] = i * n; return x[n]; }

// CASE locals that are shown to others are checked
// CHECKS: write4=1 read4=1
void show(int *);
int f(void) { int x = 1; show(&x); return x; }

// CASE constants are not checked
// CHECKS:
static const int table[4] = {1, 2, 3, 4};
int f(int i) { return table[i & 3]; }

// CASE a loop over an array
// CHECKS: write_walk=1
void f(int n) { for (int i = 0; i < n; i++) a[i] = i; }

// CASE a loop that reads and writes one element
// CHECKS: write_walk=1
void f(int n) { for (int i = 0; i < n; i++) a[i] += i; }

// CASE a loop over two arrays
// CHECKS: read_walk=1 write_walk=1
void f(int n) { for (int i = 0; i < n; i++) a[i] = b[i]; }

// CASE a loop with a pointer that goes up
// CHECKS: read_walk=1
int f(int *p, int *end) { int s = 0; while (p != end) s += *p++; return s; }

// CASE a loop that goes down
// CHECKS: write_walk=1
void f(int n) { for (int i = n - 1; i >= 0; i--) a[i] = 0; }

// CASE an unsigned counter with a bound
// CHECKS: write_walk=1
void f(unsigned n) { for (unsigned i = 0; i < n; i++) a[i] = 0; }

// CASE an unsigned counter that may wrap
// CHECKS: write4=1
void f(unsigned s, unsigned n) { for (unsigned i = s; i != n; i++) a[i] = 0; }

// CASE a short counter
// CHECKS: write_walk=1
void f(short n) { for (short i = 0; i < n; i++) a[i] = 0; }

// CASE two exits that differ
// CHECKS: read_walk=2
int f(int n, int k) { int s = 0; for (int i = 0; i < n; i++) { if (i == k) return s * 2; s += a[i]; } return s; }

// CASE a search is checked as it goes
// CHECKS: read4=1
int f(int n) { for (int i = 0; i < n; i++) if (a[i] == 7) return i; return -1; }

// CASE a search through bytes is a walk
// CHECKS: read_walk=1
int f(const char *s) { int i = 0; while (s[i] != ' ') i++; return i; }

// CASE a search through every other byte is checked as it goes
// CHECKS: read1=1
int f(const char *s) { int i = 0; while (s[i] != ' ') i += 2; return i; }

// CASE waiting for a byte is checked as it goes
// CHECKS: read1=1
void f(const char *s) { while (*s) ; }

// CASE the walk of an inner loop that is the same in the outer one
// CHECKS: read_walk=1 write_walk=1
void f(int n, int k) { for (int i = 0; i < k; i++) { int s = 0; for (int j = 0; j < n; j++) s += a[j]; b[i] = s; } }

// CASE an access only in some iterations
// CHECKS: write4=1
void f(int n) { for (int i = 0; i < n; i++) if (i & 3) a[i] = 0; }

// CASE a call in the loop that may synchronise
// CHECKS: write4=1
void f(int n) { for (int i = 0; i < n; i++) { a[i] = 0; sync_point(); } }

// CASE a function of the program that cannot synchronise
// CHECKS: write_walk=1 read4=1
static __attribute__((noinline)) int pure(int x) { return x * h; }
void f(int n) { for (int i = 0; i < n; i++) a[i] = pure(i); }

// CASE an atomic in the loop
// CHECKS: write4=1 atomic_enter=1 atomic_leave=1
void f(int n) { for (int i = 0; i < n; i++) { a[i] = 0; atom++; } }

// CASE the same place each time
// CHECKS: write4=1 read_walk=1
void f(int n) { for (int i = 0; i < n; i++) g += b[i]; }

// CASE a base that is in memory
// CHECKS: read8=1 write_walk=1
int *base;
void f(int n) { for (int i = 0; i < n; i++) base[i] = i; }

// CASE a bound and a base behind a pointer
// CHECKS: read8=1 read4=1 write_walk=1
struct vector { double *data; int count; };
void f(struct vector *v) { for (int i = 0; i < v->count; i++) v->data[i] = i; }

// CASE a base that the loop itself may change
// CHECKS: read8=1 write8=1
long **table;
void f(int n) { for (int i = 0; i < n; i++) table[i] = (long *)(table + 1); }

// CASE a wait loop is checked before it waits
// CHECKS: read4=1
void f(void) { while (!g); }

// CASE nested loops
// CHECKS: write_walk=1
int m[10][20];
void f(int n, int k) { for (int i = 0; i < n; i++) for (int j = 0; j < k; j++) m[i][j] = 0; }

// CASE columns
// CHECKS: read_walk=1
int m[10][20];
int f(int n, int k) { int s = 0; for (int j = 0; j < k; j++) for (int i = 0; i < n; i++) s += m[i][j]; return s; }

// CASE a step known only when running
// CHECKS: read_walk=1
int f(int *p, int n, int k) { int s = 0; for (int i = 0; i < n; i++) s += p[i * k]; return s; }

// CASE fields of structs
// CHECKS: read_walk=2
struct point { int x, y, z; } points[100];
int f(int n) { int s = 0; for (int i = 0; i < n; i++) s += points[i].x * points[i].z; return s; }

// CASE an index from memory
// CHECKS: read_walk=1 write4=1
void f(int n) { for (int i = 0; i < n; i++) a[b[i]] = 0; }

// CASE a list
// CHECKS: read4=1 read8=1
struct node { int value; struct node *next; };
int f(struct node *n) { int s = 0; for (; n; n = n->next) s += n->value; return s; }

// CASE copies and fills
// CHECKS: read_n=1 write_n=2
void f(char *p, char *q, size_t n) { memcpy(p, q, n); memset(p, 0, 77); }

// CASE memory of one's own
// CHECKS:
void *malloc(size_t); void free(void *);
int f(int n) { int *p = malloc(100); p[n] = 3; int r = p[n] * n; free(p); return r; }

// CASE volatile accesses are plain ones
// CHECKS: write4=1
void f(void) { flag = 1; flag = 2; }

// CASE a fence
// CHECKS: read4=2 fence=1
int f(void) { int x = g; __atomic_thread_fence(__ATOMIC_SEQ_CST); return x + g; }

// CASE a fence for signals orders nothing
// CHECKS: read4=1
int f(void) { int x = g; __atomic_signal_fence(__ATOMIC_SEQ_CST); return x + g; }

// CASE compare and exchange
// CHECKS: atomic_enter=1 atomic_leave=1 read4=1 write4=1
int f(int *e) { return __atomic_compare_exchange_n(&g, e, 4, 0, 5, 2); }

// CASE a struct passed by value
// CHECKS: read_n=1
struct big { long v[10]; } big;
void take(struct big);
void f(void) { take(big); }

// CASE a conditional read is not read before its condition
// CHECKS: read4=1
int f(int c) { return c ? g : 0; }

// CASE unused reads are reads
// CHECKS: read4=2
void f(void) { g; (void)h; }

// CASE two fields, one read twice
// CHECKS: read4=2
struct pair { int x, y; } pair;
int f(struct pair *p) { return p->x + p->y + p->x; }

// CASE a struct that comes in registers is copied with its padding
// CHECKS: read4=2 read8=1 write4=2 write8=1
struct tail { long a; int b; } tail;
struct tail get(void) { return tail; }
struct tail made(void);
void f(struct tail *p) { *p = made(); }

// CASE a weak function may be another one
// CHECKS: read4=2
__attribute__((weak)) void replaced(void) {}
int f(void) { int x = g; replaced(); return x + g; }

// CASE a loop around a condition wait
// CHECKS: read4=2 loop_begin=1 loop_end=1
typedef union { char size[48]; long align; } cond, mutex;
int pthread_cond_wait(cond *, mutex *);
cond c; mutex m;
void f(void) { while (!g) pthread_cond_wait(&c, &m); }

// CASE a loop around a function that waits; a wait that no loop is around
// CHECKS: read4=2 loop_begin=1 loop_end=1
typedef union { char size[48]; long align; } cond, mutex;
int pthread_cond_wait(cond *, mutex *);
struct queue { mutex m; cond c; };
__attribute__((noinline)) static int wait_for(struct queue *q) { return pthread_cond_wait(&q->c, &q->m); }
void f(struct queue *q) { while (!g) wait_for(q); }

// CASE an annotation of the program orders what is around it
// CHECKS: write4=2 release=1
void __raddle_release(void *, unsigned);
void f(void) { g = 1; __raddle_release(&g, 0); g = 2; }
