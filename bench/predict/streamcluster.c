//@ verdict: race
//@ deadlocks: none
// Clusters a stream of points: in each round the workers assign their points to centres, and the first opens the point that is worst off
// as one more. It announces the number of centres after the last barrier of the round, where the others read it already.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_WORKERS 16
#define MAX_CENTRES 64
#define DIMENSIONS 3

struct point {
    double at[DIMENSIONS];
    double cost;
    int centre;
};

static struct point *points;
static int centres[MAX_CENTRES];
static int count, rounds, workers;
static int announced = 1;
static struct {
    double cost;
    int worst;
    int seen;
    int round;
} results[MAX_WORKERS];
static int ids[MAX_WORKERS];
static pthread_barrier_t barrier;

static double distance(const struct point *a, const struct point *b)
{
    double sum = 0;
    int d;
    for (d = 0; d < DIMENSIONS; d++)
        sum += (a->at[d] - b->at[d]) * (a->at[d] - b->at[d]);
    return sum;
}

/* The points of a worker to the nearest of the first `open` centres. */
static void assign(int id, int open)
{
    int from = count * id / workers, to = count * (id + 1) / workers, i, c;
    results[id].cost = 0;
    results[id].worst = from;
    for (i = from; i < to; i++) {
        struct point *p = &points[i];
        p->cost = distance(p, &points[centres[0]]); // NORACE: points
        p->centre = 0;
        for (c = 1; c < open; c++) {
            double other = distance(p, &points[centres[c]]); // NORACE: points
            if (other < p->cost) {
                p->cost = other;
                p->centre = c;
            }
        }
        results[id].cost += p->cost;
        if (p->cost > points[results[id].worst].cost)
            results[id].worst = i;
    }
}

static void open_worst(int round)
{
    int w, worst = results[0].worst;
    for (w = 1; w < workers; w++)
        if (points[results[w].worst].cost > points[worst].cost)
            worst = results[w].worst;
    centres[round] = worst; // NORACE: centres
}

static void *worker(void *arg)
{
    int id = *(int *)arg, round;
    for (round = 1; round <= rounds; round++) {
        assign(id, round);
        pthread_barrier_wait(&barrier);
        if (id == 0)
            open_worst(round);
        pthread_barrier_wait(&barrier);
        if (id == 0)
            announced = round + 1; // RACE#1: announced
        else
            results[id].seen = announced; // RACE#1: announced
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[MAX_WORKERS];
    unsigned state = 7;
    double cost = 0;
    int i, d;

    workers = argc > 1 ? atoi(argv[1]) : 4;
    count = argc > 2 ? atoi(argv[2]) : 64;
    rounds = argc > 3 ? atoi(argv[3]) : 4;
    if (workers < 2 || workers > MAX_WORKERS || rounds < 1 || rounds >= MAX_CENTRES || count < workers)
        return 2;
    points = calloc(count, sizeof *points);
    for (i = 0; i < count; i++)
        for (d = 0; d < DIMENSIONS; d++) {
            state = state * 1664525u + 1013904223u;
            points[i].at[d] = state >> 16;
        }
    pthread_barrier_init(&barrier, NULL, workers);
    for (i = 0; i < workers; i++) {
        ids[i] = i;
        pthread_create(&thread[i], NULL, worker, &ids[i]);
    }
    for (i = 0; i < workers; i++)
        pthread_join(thread[i], NULL);
    for (i = 0; i < workers; i++)
        cost += results[i].cost;
    printf("%d centres, cost %.0f\n", announced, cost);
    free(points);
    return 0;
}
