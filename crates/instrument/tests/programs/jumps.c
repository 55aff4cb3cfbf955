// setjmp and longjmp over frames, varargs, structs by value and as results, thread-local variables, computed goto, VLAs.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>

static jmp_buf back;
static int depth_of_jump;

__attribute__((noinline)) static void dive(int n) {
    depth_of_jump++;
    if (n == 0) longjmp(back, 7);
    dive(n - 1);
    depth_of_jump--;
}

__attribute__((noinline)) static int sum(int n, ...) {
    va_list list, other;
    int s = 0;
    va_start(list, n);
    va_copy(other, list);
    for (int i = 0; i < n; i++) s += va_arg(list, int);
    for (int i = 0; i < n; i++) s += va_arg(other, int);
    va_end(list);
    va_end(other);
    return s;
}

struct big { long v[9]; };
__attribute__((noinline)) static struct big twice(struct big b) {
    for (int i = 0; i < 9; i++) b.v[i] *= 2;
    return b;
}

static _Thread_local int mine[8];
static int *shown;
static void *worker(void *p) {
    for (int i = 0; i < 8; i++) mine[i] = i * (int)(long)p;
    shown = mine;
    long s = 0;
    for (int i = 0; i < 8; i++) s += shown[i];
    return (void *)s;
}

static int interpret(const char *code) {
    static void *jump[] = { &&add, &&twice, &&stop };
    int acc = 1;
    goto *jump[*code++ - 'a'];
add: acc += 3; goto *jump[*code++ - 'a'];
twice: acc *= 2; goto *jump[*code++ - 'a'];
stop: return acc;
}

static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

int main(int argc, char **argv) {
    volatile int rounds = 0;
    int code = setjmp(back);
    rounds++;
    printf("code %d round %d depth %d\n", code, rounds, depth_of_jump);
    if (rounds < 4) dive(rounds * 2);
    printf("%d %d\n", sum(3, 1, 2, 3), sum(0));
    struct big b;
    for (int i = 0; i < 9; i++) b.v[i] = i;
    struct big c = twice(twice(b));
    printf("%ld %ld\n", c.v[8], b.v[8]);
    pthread_t t;
    void *result;
    pthread_create(&t, 0, worker, (void *)3);
    pthread_join(t, &result);
    printf("%ld %d\n", (long)result, mine[3]);
    printf("%d\n", interpret("abbac"));
    int n = argc + 4, vla[n];
    for (int i = 0; i < n; i++) vla[i] = (i * 7) % n;
    qsort(vla, n, sizeof *vla, order);
    char text[64], *end = text;
    for (int i = 0; i < n; i++) end += sprintf(end, "%d,", vla[i]);
    printf("%s %zu %s\n", text, strlen(text), strchr(text, '2'));
    unsigned long bits = 0;
    struct { unsigned a : 3, b : 7; long long c : 40; } f = { 5, 100, -77 };
    f.b += 3;
    bits = f.a + f.b + (unsigned long)f.c;
    printf("%lu\n", bits);
    return 0;
}
