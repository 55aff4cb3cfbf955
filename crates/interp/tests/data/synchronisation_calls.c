// Calls that are no ordinary library functions and touch memory besides their lock: results, ids, keys, attributes, counts, times,
// values of atomic operations.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

struct large {
  long values[5];
  void *pointer;
};

static _Atomic struct large shared;
static struct large odd __attribute__((aligned(1)));
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int cell;
static atomic_flag flag = ATOMIC_FLAG_INIT;

static void free_value(void *value) { free(value); }
static void make_key(void) { pthread_key_create(&key, free_value); }

static void *worker(void *argument) {
  pthread_once(&once, make_key);
  int *value = malloc(sizeof *value);
  *value = 1;
  pthread_setspecific(key, value);
  *(int *)pthread_getspecific(key) += 1;
  if (argument == &cell) pthread_exit(&cell);
  return argument;
}

static int c11_worker(void *argument) { return argument != NULL; }

int main(void) {
  pthread_t threads[2];
  thrd_t other;
  void *result;
  int status, old, value;
  pthread_attr_t attr;
  pthread_mutexattr_t kind;
  pthread_mutex_t mutex;
  sem_t sem, *named;
  tss_t slot;
  struct timespec moment = {0, 1000};
  pthread_attr_init(&attr);
  pthread_create(&threads[0], &attr, worker, &cell);
  pthread_create(&threads[1], NULL, worker, NULL);
  pthread_join(threads[0], &result);
  pthread_join(threads[1], NULL);
  thrd_create(&other, c11_worker, &cell);
  thrd_join(other, &status);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
  pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &old);
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&mutex, &kind);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  pthread_mutex_destroy(&mutex);
  sem_init(&sem, 0, 2);
  sem_wait(&sem);
  sem_getvalue(&sem, &value);
  named = sem_open("/raddle", O_CREAT, 0600, 1);
  sem_post(named);
  tss_create(&slot, free_value);
  tss_set(slot, NULL);
  nanosleep(&moment, NULL);
  thrd_sleep(&moment, NULL);

  struct large read = atomic_load(&shared), expected = read;
  read.pointer = &cell;
  atomic_store(&shared, read);
  struct large before = atomic_exchange(&shared, expected);
  int swapped = atomic_compare_exchange_strong(&shared, &expected, before);
  swapped += atomic_compare_exchange_strong(&shared, &expected, read);
  __atomic_load(&odd, &read, __ATOMIC_SEQ_CST);
  atomic_flag_test_and_set(&flag);
  atomic_flag_clear(&flag);
  return result == &cell && status == 1 && value == 1 && swapped == 1 ? 0 : 1;
}
