//@ right: race
//@ answer: safe
//@ because: environ and what getenv reads are not connected in the interpreter.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
#define MAIN2(f,g) int main(void){pthread_t a_,b_;GO(a_,f,0);GO(b_,g,0);JOIN(a_);JOIN(b_);return 0;}
extern char**environ; static char*e2[]={"A=1",0}; TH(f){ environ=e2; return 0;} TH(g){ return getenv("A");} MAIN2(f,g)
