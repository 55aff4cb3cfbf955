//@ right: race
//@ answer: safe
//@ because: That strtol stores to errno (C11 7.22.1.4) is no access for the static analysis; a run ends where the address is kept.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
#include <errno.h>
static void*g(void*p){ *(int*)p=2; return 0;} int main(void){ pthread_t a; GO(a,g,&errno); strtol("999999999999999999999999",0,10); JOIN(a);}
