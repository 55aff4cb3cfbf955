/* Load for memcached: CLIENTS threads, each with one connection, OPERATIONS requests in all, one set to nine gets.
 * At the end the server is told to shut down (it needs -A).
 *   usage: load PORT OPERATIONS */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENTS 4
#define KEYS 1000
#define VALUE 200

static int port, operations;

static int connected(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int one = 1;
    for (int attempt = 0; attempt < 600; attempt++) {
        int connection = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(connection, (struct sockaddr *)&address, sizeof address) == 0) {
            setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            return connection;
        }
        close(connection);
        usleep(100000);
    }
    fputs("load: no server\n", stderr);
    exit(1);
}

/* Sends a request and reads until the answer ends so. */
static void ask(int connection, const char *request, size_t length, const char *end1, const char *end2)
{
    char answer[4096];
    size_t got = 0, long1 = strlen(end1), long2 = strlen(end2);
    if (write(connection, request, length) != (ssize_t)length)
        exit(1);
    for (;;) {
        ssize_t part = read(connection, answer + got, sizeof answer - got);
        if (part <= 0)
            exit(1);
        got += (size_t)part;
        if ((got >= long1 && memcmp(answer + got - long1, end1, long1) == 0) ||
            (got >= long2 && memcmp(answer + got - long2, end2, long2) == 0))
            return;
    }
}

static void *client(void *arg)
{
    int connection = connected();
    unsigned state = (unsigned)(long)arg + 1;
    char request[VALUE + 100];
    for (int i = 0; i < operations / CLIENTS; i++) {
        state = state * 1664525u + 1013904223u;
        unsigned key = (state >> 8) % KEYS;
        if (i % 10 == 0) {
            int length = snprintf(request, sizeof request, "set key%u 0 0 %d\r\n", key, VALUE);
            memset(request + length, 'x', VALUE);
            memcpy(request + length + VALUE, "\r\n", 2);
            ask(connection, request, (size_t)length + VALUE + 2, "STORED\r\n", "ERROR\r\n");
        } else {
            int length = snprintf(request, sizeof request, "get key%u\r\n", key);
            ask(connection, request, (size_t)length, "END\r\n", "ERROR\r\n");
        }
    }
    close(connection);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t clients[CLIENTS];
    if (argc != 3)
        return 2;
    port = atoi(argv[1]);
    operations = atoi(argv[2]);
    for (long i = 0; i < CLIENTS; i++)
        pthread_create(&clients[i], NULL, client, (void *)i);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    int connection = connected();
    if (write(connection, "shutdown\r\n", 10) != 10)
        return 1;
    char rest;
    while (read(connection, &rest, 1) > 0)
        ;
    return 0;
}
