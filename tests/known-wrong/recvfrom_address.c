//@ right: race
//@ answer: safe
//@ because: The interpreter does not write the address that recvfrom fills.
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
#include <sys/socket.h>
#include <netinet/in.h>
static struct sockaddr_in from; static int s; TH(f){ char b[4]; socklen_t n=sizeof from; recvfrom(s,b,4,0,(struct sockaddr*)&from,&n); return 0;} TH(g){from.sin_port=0;return 0;} int main(void){pthread_t a,b; s=socket(AF_INET,SOCK_DGRAM,0); if(s<0)return 1; struct sockaddr_in me={.sin_family=AF_INET,.sin_port=htons(5000)}; if(bind(s,(struct sockaddr*)&me,sizeof me))return 1; GO(a,f,0);GO(b,g,0);JOIN(a);JOIN(b);return 0;}
