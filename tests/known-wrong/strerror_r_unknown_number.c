//@ right: race
//@ answer: safe
//@ because: The interpreter does not write the buffer for an unknown number.
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
#define MAIN2(f,g) int main(void){pthread_t a_,b_;GO(a_,f,0);GO(b_,g,0);JOIN(a_);JOIN(b_);return 0;}
static char buf[64]; TH(f){ strerror_r(99999,buf,sizeof buf); return 0;} TH(g){buf[0]='x';return 0;} MAIN2(f,g)
