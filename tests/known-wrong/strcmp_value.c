//@ right: race
//@ answer: safe
//@ because: The interpreter returns one of the values that C11 7.24.4.2 allows; only the sign is fixed.
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
#define MAIN2(f,g) int main(void){pthread_t a_,b_;GO(a_,f,0);GO(b_,g,0);JOIN(a_);JOIN(b_);return 0;}
static int x; TH(f){ if(strcmp("a","c")==-1) x++; return 0;} MAIN2(f,f)
