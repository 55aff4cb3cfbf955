//@ right: race
//@ answer: safe
//@ because: An address that comes back from a text has no objects for the static analysis.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
static int x; static char s[40]; TH(f){ *(int*)strtoul(s,0,16)=1; return 0;} TH(g){x=2;return 0;} int main(int c,char**v){pthread_t a,b;if(c<6)return 0;sprintf(s,"%lx",(unsigned long)&x);GO(a,f,0);GO(b,g,0);JOIN(a);JOIN(b);}
