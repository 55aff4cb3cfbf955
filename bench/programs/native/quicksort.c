/* Quicksort with a pool of THREADS threads and a locked list of open ranges; short ranges are sorted by insertion. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef COUNT
#define COUNT 3000000
#endif
#define THREADS 4
#define SHORT 24
#define ALONE 4096

struct range {
    int *low, *high;
};

static struct range *open_ranges;
static int open_count, room, unsorted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void add(int *low, int *high)
{
    pthread_mutex_lock(&lock);
    if (open_count == room) {
        room = room ? 2 * room : 64;
        open_ranges = realloc(open_ranges, sizeof *open_ranges * room);
    }
    open_ranges[open_count].low = low;
    open_ranges[open_count++].high = high;
    unsorted++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void insertion(int *low, int *high)
{
    for (int *i = low + 1; i <= high; i++) {
        int value = *i, *j = i;
        for (; j > low && j[-1] > value; j--)
            *j = j[-1];
        *j = value;
    }
}

static int *split(int *low, int *high)
{
    int pivot = low[(high - low) / 2], *i = low, *j = high;
    for (;;) {
        while (*i < pivot)
            i++;
        while (*j > pivot)
            j--;
        if (i >= j)
            return j;
        int swapped = *i;
        *i++ = *j;
        *j-- = swapped;
    }
}

static void sort(int *low, int *high)
{
    while (high - low >= SHORT) {
        int *middle = split(low, high);
        if (high - middle > ALONE)
            add(middle + 1, high);
        else
            sort(middle + 1, high);
        high = middle;
    }
    insertion(low, high);
}

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        while (open_count == 0 && unsorted > 0)
            pthread_cond_wait(&changed, &lock);
        if (unsorted == 0)
            break;
        struct range range = open_ranges[--open_count];
        pthread_mutex_unlock(&lock);
        sort(range.low, range.high);
        pthread_mutex_lock(&lock);
        if (--unsorted == 0)
            pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    int *numbers = malloc(sizeof(int) * COUNT);
    unsigned state = 1;
    for (int i = 0; i < COUNT; i++) {
        state = state * 1664525u + 1013904223u;
        numbers[i] = (int)(state >> 1);
    }
    pthread_t threads[THREADS];
    add(numbers, numbers + COUNT - 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 1; i < COUNT; i++)
        if (numbers[i - 1] > numbers[i])
            return 1;
    puts("sorted");
    return 0;
}
