/* Four threads hand blocks to three others through one descriptor each way that the argument names; who gets a block owns it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
enum { WRITERS = 4, READERS = 3, EACH = 300 };
static int ends[2];
static long sums[READERS];
struct block {
    long value;
    char text[24];
};
static void *writer(void *arg)
{
    for (long i = 0; i < EACH; i++) {
        struct block *block = malloc(sizeof *block);
        block->value = 1;
        memset(block->text, 'a', sizeof block->text);
        if (write(ends[1], &block, sizeof block) != sizeof block)
            exit(9);
    }
    return arg;
}
static void *reader(void *arg)
{
    struct block *block;
    while (read(ends[0], &block, sizeof block) == sizeof block && block) {
        sums[(long)arg] += block->value + (block->text[3] == 'a');
        memset(block->text, 'b', sizeof block->text);
        free(block);
    }
    return NULL;
}
int main(int argc, char **argv)
{
    pthread_t threads[WRITERS + READERS];
    struct block *none = NULL;
    int failed = argc > 1 ? socketpair(AF_UNIX, strcmp(argv[1], "pair") ? SOCK_SEQPACKET : SOCK_STREAM, 0, ends)
                          : pipe(ends);
    if (failed)
        return 8;
    for (long i = 0; i < WRITERS; i++)
        pthread_create(&threads[i], NULL, writer, NULL);
    for (long i = 0; i < READERS; i++)
        pthread_create(&threads[WRITERS + i], NULL, reader, (void *)i);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < READERS; i++)
        if (write(ends[1], &none, sizeof none) < 0)
            return 7;
    for (int i = 0; i < READERS; i++)
        pthread_join(threads[WRITERS + i], NULL);
    printf("sum %ld\n", sums[0] + sums[1] + sums[2]);
    return 0;
}
