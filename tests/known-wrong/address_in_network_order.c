//@ right: race
//@ answer: safe
//@ because: An address that comes back from ntohl has no objects for the static analysis.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
#include <arpa/inet.h>
static int x; static uint32_t h,l; TH(f){ uint64_t u=(uint64_t)ntohl(h)<<32|ntohl(l); *(int*)u=1; return 0;} TH(g){x=2;return 0;} int main(int c,char**v){pthread_t a,b;if(c<6)return 0;uint64_t u=(uint64_t)&x;h=htonl(u>>32);l=htonl((uint32_t)u);GO(a,f,0);GO(b,g,0);JOIN(a);JOIN(b);}
