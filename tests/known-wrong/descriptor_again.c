//@ right: race
//@ answer: safe
//@ because: Numbers of closed pipes are never given out again by the interpreter; POSIX 2.14 asks for the lowest free one.
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
#define MAIN2(f,g) int main(void){pthread_t a_,b_;GO(a_,f,0);GO(b_,g,0);JOIN(a_);JOIN(b_);return 0;}
static int tab[64]; TH(f){ int p[2]; if(pipe(p))return 0; tab[p[0]&63]++; close(p[0]); close(p[1]); return 0;} MAIN2(f,f)
