//@ right: race
//@ answer: safe
//@ because: The interpreter returns the size that was asked for; it may be larger.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
#define MAIN2(f,g) int main(void){pthread_t a_,b_;GO(a_,f,0);GO(b_,g,0);JOIN(a_);JOIN(b_);return 0;}
#include <malloc.h>
static int x; TH(f){ void*p=malloc(5); if(malloc_usable_size(p)>5) x++; return 0;} MAIN2(f,f)
