//@ right: race
//@ answer: safe
//@ because: The handle of a joined thread is never given out again by the interpreter; POSIX lets pthread_create do so.
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
static int x; TH(f){ return 0;} TH(h){x++;return 0;} int main(void){ pthread_t a,b,c; GO(a,f,0); JOIN(a); pthread_t id=a; GO(b,f,0); int same=pthread_equal(id,b); JOIN(b); if(same){GO(b,h,0);GO(c,h,0);JOIN(b);JOIN(c);} return 0;}
