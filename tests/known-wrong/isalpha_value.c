//@ right: race
//@ answer: safe
//@ because: The interpreter returns one of the values that C11 7.4.1 allows: any that is not zero.
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
#define MAIN2(f,g) int main(void){pthread_t a_,b_;GO(a_,f,0);GO(b_,g,0);JOIN(a_);JOIN(b_);return 0;}
#include <ctype.h>
static int x; TH(f){ if(isalpha('a')==1) x++; return 0;} MAIN2(f,f)
