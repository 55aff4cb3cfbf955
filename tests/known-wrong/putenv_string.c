//@ right: race
//@ answer: safe
//@ because: The string that putenv is given is the environment (POSIX); the interpreter copies it.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
static char buf[]="A=1"; TH(f){ buf[2]='2'; return 0;} TH(g){ char*p=getenv("A"); return p?(void*)(long)*p:0;} int main(void){pthread_t a,b; putenv(buf); GO(a,f,0);GO(b,g,0);JOIN(a);JOIN(b);}
