// Parallel quicksort of the 2008 paper's kind: two threads sort one half each, main merges; five locks, thousands of accesses.
// Race-free.
//@ bench:
//@ paper: 2008 paper: PDP 1
#include <pthread.h>

#define N 128
#define MOST 64

static int left[N / 2], right[N / 2];
static int ready, sorted, splits, swaps, compared;
static pthread_mutex_t ready_lock = PTHREAD_MUTEX_INITIALIZER, sorted_lock = PTHREAD_MUTEX_INITIALIZER,
                       splits_lock = PTHREAD_MUTEX_INITIALIZER, swaps_lock = PTHREAD_MUTEX_INITIALIZER,
                       compared_lock = PTHREAD_MUTEX_INITIALIZER;

static void add(pthread_mutex_t *lock, int *counter, int amount) {
  pthread_mutex_lock(lock);
  *counter += amount;
  pthread_mutex_unlock(lock);
}

static void insertion(int *data, int low, int high) {
  for (int i = low + 1; i <= high; i++)
    for (int j = i; j > low && data[j - 1] > data[j]; j--) {
      int t = data[j];
      data[j] = data[j - 1];
      data[j - 1] = t;
    }
}

static int split(int *data, int low, int high) {
  int pivot = data[(low + high) / 2], i = low - 1, j = high + 1;
  for (;;) {
    do
      i++;
    while (data[i] < pivot);
    do
      j--;
    while (data[j] > pivot);
    if (i >= j)
      return j;
    int t = data[i];
    data[i] = data[j];
    data[j] = t;
  }
}

/* Sorts one half. */
static void *sorter(void *arg) {
  int *data = arg;
  int mine[MOST][2], depth = 0, made = 0;
  mine[depth][0] = 0;
  mine[depth++][1] = N / 2 - 1;
  while (depth > 0) {
    depth--;
    int l = mine[depth][0], h = mine[depth][1];
    if (h - l < 8) {
      insertion(data, l, h);
      continue;
    }
    int at = split(data, l, h);
    made++;
    mine[depth][0] = l;
    mine[depth++][1] = at;
    mine[depth][0] = at + 1;
    mine[depth++][1] = h;
  }
  add(&ready_lock, &ready, 1);
  add(&sorted_lock, &sorted, N / 2);
  add(&splits_lock, &splits, made);
  add(&swaps_lock, &swaps, made);
  add(&compared_lock, &compared, made);
  return 0;
}

int main(void) {
  pthread_t a, b;
  unsigned seed = 7;
  for (int i = 0; i < N / 2; i++) {
    seed = seed * 1103515245 + 12345;
    left[i] = (int)(seed >> 16) % 1000;
    seed = seed * 1103515245 + 12345;
    right[i] = (int)(seed >> 16) % 1000;
  }
  pthread_create(&a, 0, sorter, left);
  pthread_create(&b, 0, sorter, right);
  pthread_join(a, 0);
  pthread_join(b, 0);
  int merged[N], i = 0, j = 0;
  for (int k = 0; k < N; k++)
    merged[k] = j == N / 2 || (i < N / 2 && left[i] <= right[j]) ? left[i++] : right[j++];
  for (int k = 1; k < N; k++)
    if (merged[k - 1] > merged[k])
      return 1;
  return sorted != N || ready != 2;
}
