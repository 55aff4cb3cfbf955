//@ verdict: race
//@ deadlocks: none
// A parallel download: each worker fetches its range of a file from a server in memory, piece by piece, and counts the bytes.
// The counter of all bytes has no lock, and the status thread reads the counters of the ranges meanwhile.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_WORKERS 16

struct range {
    int number;
    long from, to;
    long got;
};

static struct {
    pthread_mutex_t lock;
    unsigned char *file;
    long requests;
} server = {PTHREAD_MUTEX_INITIALIZER, NULL, 0};

static struct {
    unsigned char *copy;
    long size, piece;
    long written;
    int workers, ticks;
} job;

static struct range ranges[MAX_WORKERS];
static long shown[64];

/* Copies what it has of the range into `buffer`, each byte combined with the one before, and returns how much that is. */
static long request(long from, long length, unsigned char *buffer)
{
    unsigned char last = 0;
    long i;
    pthread_mutex_lock(&server.lock);
    server.requests++;
    for (i = 0; i < length; i++)
        buffer[i] = last = last * 5 + server.file[from + i];
    pthread_mutex_unlock(&server.lock);
    return length;
}

static void *fetch(void *arg)
{
    struct range *range = arg;
    unsigned char *buffer = malloc(job.piece);
    long at = range->from;
    while (at < range->to) {
        long left = range->to - at, i;
        long length = request(at, left < job.piece ? left : job.piece, buffer);
        unsigned char last = 0;
        for (i = 0; i < length; i++) {
            job.copy[at + i] = buffer[i] - last * 5;
            last = buffer[i];
        }
        at += length;
        range->got += length; // RACE#2: ranges[].got
        job.written += length; // RACE#1: job.written
    }
    free(buffer);
    return NULL;
}

static void *status(void *arg)
{
    int tick, i;
    for (tick = 0; tick < job.ticks; tick++) {
        for (i = 0; i < job.workers; i++)
            shown[tick] += ranges[i].got; // RACE#2: ranges[].got
        usleep(500);
    }
    return arg;
}

int main(int argc, char **argv)
{
    int workers = argc > 1 ? atoi(argv[1]) : 4, i;
    pthread_t thread[MAX_WORKERS], progress;
    unsigned long state = 1;
    long k, got = 0;

    if (workers < 1 || workers > MAX_WORKERS)
        return 2;
    job.size = argc > 2 ? atol(argv[2]) : 4096;
    job.piece = argc > 3 ? atol(argv[3]) : 64;
    job.ticks = 8;
    job.workers = workers;
    job.copy = calloc(job.size, 1);
    server.file = malloc(job.size);
    for (k = 0; k < job.size; k++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        server.file[k] = state >> 56;
    }
    for (i = 0; i < workers; i++) {
        ranges[i].number = i;
        ranges[i].from = job.size * i / workers;
        ranges[i].to = job.size * (i + 1) / workers;
        pthread_create(&thread[i], NULL, fetch, &ranges[i]);
    }
    pthread_create(&progress, NULL, status, NULL);
    for (i = 0; i < workers; i++)
        pthread_join(thread[i], NULL);
    pthread_join(progress, NULL);
    for (i = 0; i < workers; i++)
        got += ranges[i].got;
    for (k = 0; k < job.size; k++)
        if (job.copy[k] != server.file[k])
            return 1;
    for (i = 0; i < job.ticks; i++)
        if (shown[i] > job.size)
            return 1;
    printf("%ld bytes in %ld requests\n", got, server.requests);
    free(job.copy);
    free(server.file);
    return got != job.size;
}
