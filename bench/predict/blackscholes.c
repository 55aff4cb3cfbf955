//@ verdict: safe
//@ deadlocks: none
// Prices of European options by the formula of Black and Scholes; each worker has its own part of the table.
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_WORKERS 16

struct option {
    double spot, strike, rate, volatility, years;
    int put;
};

static struct option *options;
static double *prices;
static int count, rounds, workers;
static int ids[MAX_WORKERS];

static double normal(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752440);
}

static double price(const struct option *o)
{
    double spread = o->volatility * sqrt(o->years);
    double d1 = (log(o->spot / o->strike) + (o->rate + 0.5 * o->volatility * o->volatility) * o->years) / spread;
    double d2 = d1 - spread;
    double later = o->strike * exp(-o->rate * o->years);
    if (o->put)
        return later * normal(-d2) - o->spot * normal(-d1);
    return o->spot * normal(d1) - later * normal(d2);
}

static void *worker(void *arg)
{
    int id = *(int *)arg, round, i;
    int from = count * id / workers, to = count * (id + 1) / workers;
    for (round = 0; round < rounds; round++)
        for (i = from; i < to; i++)
            prices[i] = price(&options[i]); // NORACE: prices
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[MAX_WORKERS];
    double sum = 0;
    int i;

    workers = argc > 1 ? atoi(argv[1]) : 4;
    count = argc > 2 ? atoi(argv[2]) : 512;
    rounds = argc > 3 ? atoi(argv[3]) : 2;
    if (workers < 1 || workers > MAX_WORKERS)
        return 2;
    options = calloc(count, sizeof *options);
    prices = calloc(count, sizeof *prices);
    for (i = 0; i < count; i++)
        options[i] = (struct option){80 + i % 41, 100, 0.01 * (1 + i % 5), 0.1 + 0.05 * (i % 7), 0.5 + i % 3, i & 1};
    for (i = 0; i < workers; i++) {
        ids[i] = i;
        pthread_create(&thread[i], NULL, worker, &ids[i]);
    }
    for (i = 0; i < workers; i++)
        pthread_join(thread[i], NULL);
    for (i = 0; i < count; i++)
        sum += prices[i];
    printf("sum of prices %.6f\n", sum);
    free(options);
    free(prices);
    return 0;
}
