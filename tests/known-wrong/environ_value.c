//@ right: race
//@ answer: safe
//@ because: environ and what setenv changes are not connected in the interpreter.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
extern char**environ; static char*e2[]={"A=1",0}; static int x; TH(h){x++;return 0;} int main(void){pthread_t a,b; environ=e2; if(getenv("A")){GO(a,h,0);GO(b,h,0);JOIN(a);JOIN(b);} return 0;}
