// Hundreds of functions that call each other through a table and write through any pointer: work for the static analysis.
//@ limits: static --time-limit 3
//@ limits: check --time-limit 3
//@ limits: static --memory-limit 100M --time-limit 60
#include <pthread.h>
enum { COUNT = 600 };
int g[COUNT], *p[COUNT];
void (*f[COUNT])(int);
#define F(i)                                   \
    void f##i(int k)                           \
    {                                          \
        for (int j = 0; j < k; j++) {          \
            p[j] = &g[(j * i) % COUNT];        \
            *p[(j + i) % COUNT] += j;          \
            if (f[j])                          \
                f[j](j - 1);                   \
        }                                      \
    }
#define SET(i) f[i - 100] = f##i;
#define TEN(M, i) M(i##0) M(i##1) M(i##2) M(i##3) M(i##4) M(i##5) M(i##6) M(i##7) M(i##8) M(i##9)
#define HUNDRED(M, i) \
    TEN(M, i##0) TEN(M, i##1) TEN(M, i##2) TEN(M, i##3) TEN(M, i##4) TEN(M, i##5) TEN(M, i##6) TEN(M, i##7) TEN(M, i##8) TEN(M, i##9)
#define ALL(M) HUNDRED(M, 1) HUNDRED(M, 2) HUNDRED(M, 3) HUNDRED(M, 4) HUNDRED(M, 5) HUNDRED(M, 6)
ALL(F)
void *w(void *a)
{
    ALL(SET)
    f100(*(int *)a);
    return a;
}
int main(int c, char **v)
{
    pthread_t t;
    (void)v;
    pthread_create(&t, 0, w, &c);
    w(&c);
    pthread_join(t, 0);
    return 0;
}
