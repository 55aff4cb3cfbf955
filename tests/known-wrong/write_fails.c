//@ right: race
//@ answer: safe
//@ because: Output to descriptor 1 is always written in full in the interpreter.
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
#define MAIN2(f,g) int main(void){pthread_t a_,b_;GO(a_,f,0);GO(b_,g,0);JOIN(a_);JOIN(b_);return 0;}
static int err; TH(f){ if(write(1,"abc",3)!=3) err=1; return 0;} MAIN2(f,f)
