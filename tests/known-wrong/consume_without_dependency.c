//@ right: race
//@ answer: safe
//@ because: memory_order_consume counts as acquire, as in compilers; C11 5.1.2.4 orders dependent accesses only, and no assumption is named.
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <stdatomic.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
#define MAIN2(f,g) int main(void){pthread_t a_,b_;GO(a_,f,0);GO(b_,g,0);JOIN(a_);JOIN(b_);return 0;}
static atomic_int r; static int d; TH(w){d=1;atomic_store_explicit(&r,1,memory_order_release);return 0;} TH(q){if(atomic_load_explicit(&r,memory_order_consume))return (void*)(long)d;return 0;} MAIN2(w,q)
