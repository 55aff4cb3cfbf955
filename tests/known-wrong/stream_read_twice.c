//@ right: race
//@ answer: safe
//@ because: Bytes arrive once in the model, so the second thread never receives any; the scope is this input under A-IO.
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
#include <sys/socket.h>
#include <netinet/in.h>
static int total,s; TH(f){ char b[4]; ssize_t n=recv(s,b,4,0); if(n>0) total+=n; return 0;} int main(void){pthread_t a,b; s=socket(AF_INET,SOCK_STREAM,0); if(s<0)return 1; struct sockaddr_in to={.sin_family=AF_INET,.sin_port=htons(5000)}; if(connect(s,(struct sockaddr*)&to,sizeof to))return 1; GO(a,f,0);GO(b,f,0);JOIN(a);JOIN(b);return total;}
