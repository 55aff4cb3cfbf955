//@ right: race
//@ answer: safe
//@ because: An address that is copied by branches on its bits has no objects for the static analysis.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
static int x; TH(f){ uintptr_t u=0; for(int i=0;i<64;i++) if(((uintptr_t)arg>>i)&1) u|=(uintptr_t)1<<i; *(int*)u=1; return 0;} TH(g){x=2;return 0;} int main(int c,char**v){pthread_t a,b;if(c<6)return 0;GO(a,f,&x);GO(b,g,0);JOIN(a);JOIN(b);}
