// A segmented downloader: THREADS threads fetch their parts of a file and account for them under one lock. Race-free.
//@ bench: -DTHREADS=3
//@ paper: 2008 paper: PDP 1
//@ bench: -DTHREADS=5
//@ paper: 2008 paper: PDP 1
#include <pthread.h>
#include <string.h>

#ifndef THREADS
#define THREADS 3
#endif
#define PART 64
#define PIECE 16

static const char source[5 * PART] = "the quick brown fox jumps over the lazy dog";
static pthread_mutex_t bwritten_lock = PTHREAD_MUTEX_INITIALIZER;
static int bwritten, pieces, errors, finished, largest;

struct request {
  int offset, length;
};

static struct request requests[THREADS];

static void *http_get(void *arg) {
  struct request *r = arg;
  char buffer[PIECE];
  int got = 0;
  while (got < r->length) {
    int n = r->length - got;
    if (n > PIECE)
      n = PIECE;
    memcpy(buffer, source + r->offset + got, n);
    got += n;
    pthread_mutex_lock(&bwritten_lock);
    bwritten += n;
    pieces++;
    if (n > largest)
      largest = n;
    pthread_mutex_unlock(&bwritten_lock);
  }
  pthread_mutex_lock(&bwritten_lock);
  if (got != r->length)
    errors++;
  finished++;
  pthread_mutex_unlock(&bwritten_lock);
  return 0;
}

int main(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    requests[i].offset = i * PART;
    requests[i].length = PART;
    pthread_create(&threads[i], 0, http_get, &requests[i]);
  }
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], 0);
  return bwritten != THREADS * PART || finished != THREADS || errors;
}
