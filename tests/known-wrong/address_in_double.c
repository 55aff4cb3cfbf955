//@ right: race
//@ answer: safe
//@ because: An address that comes back from a double has no objects for the static analysis.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
static int x; static double k; TH(f){ *(int*)(uintptr_t)k=1; return 0;} TH(g){x=2;return 0;} int main(int c,char**v){pthread_t a,b; if(c<6)return 0; k=(double)(uintptr_t)&x;GO(a,f,0);GO(b,g,0);JOIN(a);JOIN(b);}
