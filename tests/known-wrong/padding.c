//@ right: race
//@ answer: safe
//@ because: The static analysis takes padding of an automatic structure for 0, as in the constant that clang copies (C11 6.2.6.1).
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
#define MAIN2(f,g) int main(void){pthread_t a_,b_;GO(a_,f,0);GO(b_,g,0);JOIN(a_);JOIN(b_);return 0;}
struct s{char c;int i;}; static int x; TH(f){ struct s s={1,2}; if(((char*)&s)[2]) x++; return 0;} MAIN2(f,f)
