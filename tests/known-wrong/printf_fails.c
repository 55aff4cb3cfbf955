//@ right: race
//@ answer: safe
//@ because: printf always succeeds in the interpreter; C11 7.21.6.3 lets it fail.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
#define MAIN2(f,g) int main(void){pthread_t a_,b_;GO(a_,f,0);GO(b_,g,0);JOIN(a_);JOIN(b_);return 0;}
static int err; TH(f){ if(printf("x\n")<0||fflush(stdout)==EOF) err=1; return 0;} MAIN2(f,f)
