//@ right: race
//@ answer: safe
//@ because: An address that comes back from a file byte by byte has no objects for the static analysis.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
static FILE*fp; TH(f){int*p;for(int i=0;i<8;i++)((unsigned char*)&p)[i]=getc(fp);*p=1;return 0;} int main(int c,char**v){pthread_t a;if(c<6)return 0;int*q=malloc(4);fp=tmpfile();if(!fp)return 1;fwrite(&q,8,1,fp);rewind(fp);GO(a,f,0);*q=2;JOIN(a);return 0;}
