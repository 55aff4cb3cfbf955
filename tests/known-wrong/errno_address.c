//@ right: race
//@ answer: safe
//@ because: Accesses to errno are no events of the interpreter, although its address may be handed to another thread (C11 7.5).
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
#include <errno.h>
static void*g(void*p){ *(int*)p=7; return 0;} int main(void){pthread_t a; GO(a,g,&errno); errno=1; JOIN(a); return 0;}
