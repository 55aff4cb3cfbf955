//@ right: race
//@ answer: safe
//@ because: The interpreter does not read the argument of nan.
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
#define MAIN2(f,g) int main(void){pthread_t a_,b_;GO(a_,f,0);GO(b_,g,0);JOIN(a_);JOIN(b_);return 0;}
#include <math.h>
static char tag[4]="12"; volatile double r; TH(f){ double d=nan(tag); return d>0?tag:0;} TH(g){tag[0]='3';return 0;} MAIN2(f,g)
