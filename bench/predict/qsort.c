//@ verdict: race
//@ deadlocks: none
// Parallel quicksort with a queue of ranges. The number of partitions has no lock. The first worker sets the knobs, then
// registers; the others register, then read them: only the usual order of the registrations lies between.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_WORKERS 16
#define QUEUE 4096

enum { CUTOFF, SAMPLE, DEPTH, STRIDE, LIMIT, KNOBS };

static struct {
    int value;
    const char *name;
} knob[KNOBS] = {{1, "cutoff"}, {1, "sample"}, {1, "depth"}, {1, "stride"}, {1, "limit"}};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct range {
        int from, to;
    } ranges[QUEUE];
    int used;
    int pending;
    int registered;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static int *numbers;
static long partitions;
static int settings[MAX_WORKERS];
static int ids[MAX_WORKERS];

static void push(int from, int to)
{
    pthread_mutex_lock(&queue.lock);
    queue.ranges[queue.used].from = from;
    queue.ranges[queue.used].to = to;
    queue.used++;
    queue.pending++;
    pthread_cond_signal(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
}

/* False when all ranges are sorted. */
static int pop(struct range *range)
{
    int more;
    pthread_mutex_lock(&queue.lock);
    while (queue.used == 0 && queue.pending > 0)
        pthread_cond_wait(&queue.changed, &queue.lock);
    more = queue.used > 0;
    if (more)
        *range = queue.ranges[--queue.used];
    pthread_mutex_unlock(&queue.lock);
    return more;
}

static void finished(void)
{
    pthread_mutex_lock(&queue.lock);
    if (--queue.pending == 0)
        pthread_cond_broadcast(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
}

static void register_worker(void)
{
    pthread_mutex_lock(&queue.lock);
    queue.registered++;
    pthread_mutex_unlock(&queue.lock);
}

static void set_knobs(void)
{
    knob[CUTOFF].value = 16; // RACE#2: knob[0].value
    knob[SAMPLE].value = 3; // RACE#3: knob[1].value
    knob[DEPTH].value = 32; // RACE#4: knob[2].value
    knob[STRIDE].value = 2; // RACE#5: knob[3].value
    knob[LIMIT].value = QUEUE; // RACE#6: knob[4].value
}

static int read_knobs(void)
{
    int sum = knob[CUTOFF].value; // RACE#2: knob[0].value
    sum += knob[SAMPLE].value; // RACE#3: knob[1].value
    sum += knob[DEPTH].value; // RACE#4: knob[2].value
    sum += knob[STRIDE].value; // RACE#5: knob[3].value
    sum += knob[LIMIT].value; // RACE#6: knob[4].value
    return sum;
}

static void insertion_sort(int from, int to)
{
    int i, j;
    for (i = from + 1; i < to; i++) {
        int moving = numbers[i]; // NORACE: numbers
        for (j = i; j > from && numbers[j - 1] > moving; j--)
            numbers[j] = numbers[j - 1]; // NORACE: numbers
        numbers[j] = moving; // NORACE: numbers
    }
}

static int partition(int from, int to)
{
    int pivot = numbers[from + (to - from) / 2], i = from - 1, j = to; // NORACE: numbers
    for (;;) {
        int t;
        while (numbers[++i] < pivot) // NORACE: numbers
            ;
        while (numbers[--j] > pivot) // NORACE: numbers
            ;
        if (i >= j)
            return j + 1;
        t = numbers[i]; // NORACE: numbers
        numbers[i] = numbers[j]; // NORACE: numbers
        numbers[j] = t; // NORACE: numbers
    }
}

static void *worker(void *arg)
{
    int id = *(int *)arg;
    struct range range;
    if (id == 0)
        set_knobs();
    register_worker();
    if (id != 0)
        settings[id] = read_knobs();
    while (pop(&range)) {
        if (range.to - range.from <= 16) {
            insertion_sort(range.from, range.to);
        } else {
            int middle = partition(range.from, range.to);
            partitions++; // RACE#1: partitions
            push(range.from, middle);
            push(middle, range.to);
        }
        finished();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int workers = argc > 1 ? atoi(argv[1]) : 4, count = argc > 2 ? atoi(argv[2]) : 1000, i, wrong = 0, unset = 0;
    pthread_t thread[MAX_WORKERS];
    unsigned state = 1;

    if (workers < 2 || workers > MAX_WORKERS || count < 1 || count > 4 * QUEUE)
        return 2;
    numbers = malloc(sizeof *numbers * count);
    for (i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        numbers[i] = state >> 12;
    }
    queue.pending = 1; /* for main, until all of the input is in the queue */
    for (i = 0; i < workers; i++) {
        ids[i] = i;
        pthread_create(&thread[i], NULL, worker, &ids[i]);
        if (i == 0)
            usleep(50000);
    }
    push(0, count);
    finished();
    for (i = 0; i < workers; i++)
        pthread_join(thread[i], NULL);
    for (i = 1; i < count; i++)
        wrong |= numbers[i - 1] > numbers[i];
    for (i = 1; i < workers; i++)
        unset += settings[i] == KNOBS;
    printf("%d numbers sorted by %d workers, %d without knobs, %s\n", count, queue.registered, unset,
           partitions > 0 ? "in parts" : "at once");
    free(numbers);
    return wrong;
}
