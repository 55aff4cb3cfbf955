// A parallel file scanner: main queues the files of a small tree, two threads take them off a shared queue and search them. Four
// locks: queue, matches, statistics, output. With BUG the counter of matches is read outside of its lock.
//@ bench:
//@ paper: 2008 paper: PDP 182
//@ bench: -DBUG
//@ paper: 2008 paper: PDP 10
#include <pthread.h>
#include <string.h>

#define FILES 3
#define ROOM 2

static const char *const files[FILES] = { "xxabxx", "abcabc", "nothing" };
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER, matches_lock = PTHREAD_MUTEX_INITIALIZER,
                       stats_lock = PTHREAD_MUTEX_INITIALIZER, output_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static int slots[ROOM], in, out, used, closed, taken, waits;
static int matches, files_matched, best_file, best_count, first_match;
static int bytes, scanned, longest, shortest, words;
static int lines, last_file, last_count, printed, width, columns;

static int next_file(void) {
  pthread_mutex_lock(&queue_lock);
  while (used == 0 && !closed) {
    waits++;
    pthread_cond_wait(&filled, &queue_lock);
  }
  int file = -1;
  if (used > 0) {
    file = slots[out];
    out = (out + 1) % ROOM;
    used--;
    taken++;
    pthread_cond_signal(&emptied);
  }
  pthread_mutex_unlock(&queue_lock);
  return file;
}

static void put_file(int file) {
  pthread_mutex_lock(&queue_lock);
  while (used == ROOM)
    pthread_cond_wait(&emptied, &queue_lock);
  slots[in] = file;
  in = (in + 1) % ROOM;
  used++;
  pthread_cond_signal(&filled);
  pthread_mutex_unlock(&queue_lock);
}

static void *scanner(void *arg) {
  int file;
  while ((file = next_file()) >= 0) {
    const char *text = files[file];
    int length = (int)strlen(text), count = 0;
    for (int i = 0; i + 1 < length; i++)
      if (text[i] == 'a' && text[i + 1] == 'b')
        count++;
    pthread_mutex_lock(&stats_lock);
    bytes += length;
    scanned++;
    words++;
    if (length > longest)
      longest = length;
    if (shortest == 0 || length < shortest)
      shortest = length;
    pthread_mutex_unlock(&stats_lock);
    if (count > 0) {
      pthread_mutex_lock(&matches_lock);
      matches += count;
      files_matched++;
      if (count > best_count) {
        best_count = count;
        best_file = file;
      }
      if (first_match == 0)
        first_match = file + 1;
      pthread_mutex_unlock(&matches_lock);
#ifdef BUG
      if (matches > 100)
        break;
#endif
    }
    pthread_mutex_lock(&output_lock);
    lines++;
    last_file = file;
    last_count = count;
    printed += count;
    width = printed;
    columns += width;
    pthread_mutex_unlock(&output_lock);
  }
  return arg;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, scanner, 0);
  pthread_create(&b, 0, scanner, 0);
  for (int file = 0; file < FILES; file++)
    put_file(file);
  pthread_mutex_lock(&queue_lock);
  closed = 1;
  pthread_cond_broadcast(&filled);
  pthread_mutex_unlock(&queue_lock);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return scanned != FILES;
}
