//@ right: race
//@ answer: safe
//@ because: A datagram arrives once in the model, so two receptions into one buffer do not meet; the scope is this input under A-IO.
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
#include <sys/socket.h>
#include <netinet/in.h>
static char buf[16]; static int s; TH(f){ recv(s,buf,16,0); return 0;} int main(void){pthread_t a,b; s=socket(AF_INET,SOCK_DGRAM,0); if(s<0)return 1; struct sockaddr_in me={.sin_family=AF_INET,.sin_port=htons(5000)}; if(bind(s,(struct sockaddr*)&me,sizeof me))return 1; GO(a,f,0);GO(b,f,0);JOIN(a);JOIN(b);return 0;}
