//@ right: race
//@ answer: safe
//@ because: The end of the process touches all streams (C11 7.22.4.4), for neither engine.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
#define GO(t,f,a) pthread_create(&t,0,f,a)
TH(g){ putc_unlocked('a',stdout); return 0;} int main(void){pthread_t a;GO(a,g,0);return 0;}
