//@ verdict: race
//@ deadlocks: none
// A small tracing library and a program that uses it. The table of threads and the lines have a lock; the level and the switch are
// read without one while main changes them. The unit is set before main registers, and read after a worker did: the lock of the
// table orders the two in the usual run only.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_THREADS 16
#define LINE 24
#define LINES 512

static struct {
    pthread_mutex_t lock;
    struct {
        int known;
        int depth;
        const char *name;
    } threads[MAX_THREADS];
    int registered;
    char text[LINES][LINE];
    int lines;
} trc = {.lock = PTHREAD_MUTEX_INITIALIZER};

int trc_level = 1;
int trc_on;
int trc_unit;

static void trc_register(int id, const char *name)
{
    pthread_mutex_lock(&trc.lock);
    trc.threads[id].known = 1;
    trc.threads[id].name = name;
    trc.registered++;
    pthread_mutex_unlock(&trc.lock);
}

static void trc_set_level(int level)
{
    trc_level = level; // RACE#1: trc_level
}

static void trc_switch(int on)
{
    trc_on = on; // RACE#2: trc_on
}

static void trc_set_unit(int unit)
{
    trc_unit = unit; // RACE#3: trc_unit
}

static int trc_get_unit(void)
{
    return trc_unit; // RACE#3: trc_unit
}

static void trc_line(int id, char mark, int unit, int value)
{
    char *line;
    int i = 0;
    if (!trc_on) // RACE#2: trc_on
        return;
    if (unit > 0 && trc_level < 1) // RACE#1: trc_level
        return;
    pthread_mutex_lock(&trc.lock);
    line = trc.text[trc.lines++ % LINES];
    line[i++] = mark;
    line[i++] = '0' + id;
    line[i++] = ' ';
    do
        line[i++] = '0' + value % 10;
    while ((value /= 10) > 0);
    while (i < LINE - 1)
        line[i++] = '.';
    line[i] = 0;
    trc.threads[id].depth += mark == '>' ? 1 : -1;
    pthread_mutex_unlock(&trc.lock);
}

static int calls;
static int ids[MAX_THREADS];
static int results[MAX_THREADS];

static int collatz(int n)
{
    int steps = 0;
    for (; n != 1; steps++)
        n = n % 2 ? 3 * n + 1 : n / 2;
    return steps;
}

static void *worker(void *arg)
{
    int id = *(int *)arg, unit, i;
    usleep(50000);
    trc_register(id, "worker");
    unit = trc_get_unit();
    for (i = 1; i <= calls; i++) {
        trc_line(id, '>', unit + 1, i);
        results[id] += collatz(id * calls + i);
        trc_line(id, '<', unit + 1, results[id]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int workers = argc > 1 ? atoi(argv[1]) : 4, i, sum = 0;
    pthread_t thread[MAX_THREADS];

    calls = argc > 2 ? atoi(argv[2]) : 24;
    if (workers < 1 || workers >= MAX_THREADS)
        return 2;
    trc_on = 1;
    for (i = 0; i < workers; i++) {
        ids[i] = i + 1;
        pthread_create(&thread[i], NULL, worker, &ids[i]);
    }
    trc_set_unit(1);
    trc_register(0, "main");
    usleep(100000);
    trc_set_level(2);
    trc_switch(1);
    for (i = 0; i < workers; i++)
        pthread_join(thread[i], NULL);
    for (i = 1; i <= workers; i++)
        sum += results[i];
    printf("%d steps, %d lines of %d threads, the first `%s`\n", sum, trc.lines, trc.registered, trc.text[0]);
    return trc.registered != workers + 1;
}
