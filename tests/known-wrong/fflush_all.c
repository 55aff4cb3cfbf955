//@ right: race
//@ answer: safe
//@ because: fflush(NULL) touches all streams (C11 7.21.5.2), for neither engine.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
#define MAIN2(f,g) int main(void){pthread_t a_,b_;GO(a_,f,0);GO(b_,g,0);JOIN(a_);JOIN(b_);return 0;}
TH(f){ fflush(NULL); return 0;} TH(g){ putc_unlocked('a',stdout); return 0;} MAIN2(f,g)
