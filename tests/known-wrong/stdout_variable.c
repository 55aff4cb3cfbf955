//@ right: race
//@ answer: safe
//@ because: glibc lets a program assign stdout, which puts reads; no row says so.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
#define MAIN2(f,g) int main(void){pthread_t a_,b_;GO(a_,f,0);GO(b_,g,0);JOIN(a_);JOIN(b_);return 0;}
TH(f){ stdout=stderr; return 0;} TH(g){ puts("a"); return 0;} MAIN2(f,g)
