//@ right: race
//@ answer: safe
//@ because: pthread_create stores the handle before the thread begins, as glibc does; POSIX does not promise it, and no assumption is named.
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
static pthread_t tid; TH(f){ return (void*)tid;} int main(void){ pthread_create(&tid,0,f,0); pthread_join(tid,0); return 0;}
