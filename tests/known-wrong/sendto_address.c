//@ right: race
//@ answer: safe
//@ because: The interpreter does not read the address that sendto is given.
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#define TH(n) static void *n(void *arg)
#define GO(t,f,a) pthread_create(&t,0,f,a)
#define JOIN(t) pthread_join(t,0)
#include <sys/socket.h>
#include <netinet/in.h>
static struct sockaddr_in to; static int s; TH(f){ sendto(s,"a",1,0,(struct sockaddr*)&to,sizeof to); return 0;} TH(g){to.sin_port=htons(9);return 0;} int main(void){pthread_t a,b; s=socket(AF_INET,SOCK_DGRAM,0); if(s<0)return 1; to.sin_family=AF_INET; GO(a,f,0);GO(b,g,0);JOIN(a);JOIN(b);return 0;}
