// A block compressor as a pipeline: main reads blocks, THREADS - 1 workers compress them, a writer puts them out in order. Three
// locks: the queue, the results, the statistics. BIG has more accesses per block. Race-free.
//@ bench: -DTHREADS=4
//@ paper: 2008 paper: PDP 45
//@ bench: -DTHREADS=10
//@ bench: -DTHREADS=4 -DBIG
//@ paper: 2008 paper: PDP 45
#include <pthread.h>

#ifndef THREADS
#define THREADS 4
#endif
#define WORKERS (THREADS - 1)
#define BLOCKS 2
#ifdef BIG
#define SIZE 32
#else
#define SIZE 2
#endif

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER, done_lock = PTHREAD_MUTEX_INITIALIZER,
                       stats_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, ready = PTHREAD_COND_INITIALIZER;
static int head, tail, closed, written, bytes_in, bytes_out, longest;
static int input[BLOCKS][SIZE], output[BLOCKS][SIZE], finished[BLOCKS];

static void *worker(void *arg) {
  for (;;) {
    pthread_mutex_lock(&queue_lock);
    while (head == tail && !closed)
      pthread_cond_wait(&more, &queue_lock);
    if (head == tail) {
      pthread_mutex_unlock(&queue_lock);
      return arg;
    }
    int block = head++;
    int in[SIZE], last = 0, runs = 0;
    for (int i = 0; i < SIZE; i++)
      in[i] = input[block][i];
    pthread_mutex_unlock(&queue_lock);
    for (int i = 0; i < SIZE; i++)
      if (in[i] != last) {
        last = in[i];
        runs++;
      }
    pthread_mutex_lock(&stats_lock);
    bytes_out += runs;
    if (runs > longest)
      longest = runs;
    pthread_mutex_unlock(&stats_lock);
    pthread_mutex_lock(&done_lock);
    for (int i = 0; i < SIZE; i++)
      output[block][i] = in[i] ^ runs;
    finished[block] = 1;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&done_lock);
  }
}

static void *writer(void *arg) {
  for (int block = 0; block < BLOCKS; block++) {
    pthread_mutex_lock(&done_lock);
    while (!finished[block])
      pthread_cond_wait(&ready, &done_lock);
    int sum = 0;
    for (int i = 0; i < SIZE; i++)
      sum += output[block][i];
    written += sum != -1;
    pthread_mutex_unlock(&done_lock);
  }
  return arg;
}

int main(void) {
  pthread_t workers[WORKERS], out;
  pthread_create(&out, 0, writer, 0);
  for (int i = 0; i < WORKERS; i++)
    pthread_create(&workers[i], 0, worker, 0);
  for (int block = 0; block < BLOCKS; block++) {
    pthread_mutex_lock(&stats_lock);
    bytes_in += SIZE;
    pthread_mutex_unlock(&stats_lock);
    pthread_mutex_lock(&queue_lock);
    for (int i = 0; i < SIZE; i++)
      input[block][i] = block * 3 + i / 2;
    tail++;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&queue_lock);
  }
  pthread_mutex_lock(&queue_lock);
  closed = 1;
  pthread_cond_broadcast(&more);
  pthread_mutex_unlock(&queue_lock);
  for (int i = 0; i < WORKERS; i++)
    pthread_join(workers[i], 0);
  pthread_join(out, 0);
  return written != BLOCKS;
}
