/* Two threads touch one buffer through library functions. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static char buffer[64];
static void *writer(void *arg)
{
    strcpy(buffer, arg);
    return NULL;
}
static void *reader(void *arg)
{
    char copy[64];
    memcpy(copy, buffer, sizeof copy);
    return memchr(copy, '!', sizeof copy) ? arg : NULL;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, writer, "some text that is long enough");
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
