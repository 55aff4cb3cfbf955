// fdrd2 with more work in both threads before and after: the same race.
//@ bench:
//@ paper: 2008 paper: PDP 68
#include <pthread.h>

static pthread_mutex_t f1 = PTHREAD_MUTEX_INITIALIZER, f2 = PTHREAD_MUTEX_INITIALIZER;
static int x, y, z, work;

static void more(pthread_mutex_t *lock) {
  pthread_mutex_lock(lock);
  work++;
  pthread_mutex_unlock(lock);
}

static void *one(void *arg) {
  more(&f1);
  pthread_mutex_lock(&f1);
  x++;
  pthread_mutex_unlock(&f1);
  pthread_mutex_lock(&f2);
  y++;
  pthread_mutex_unlock(&f2);
  more(&f1);
  pthread_mutex_lock(&f1);
  z++;
  pthread_mutex_unlock(&f1);
  return arg;
}

static void *two(void *arg) {
  more(&f1);
  pthread_mutex_lock(&f1);
  pthread_mutex_lock(&f2);
  z++;
  int c = x;
  pthread_mutex_unlock(&f2);
  pthread_mutex_unlock(&f1);
  more(&f1);
  pthread_mutex_lock(&f1);
  if (c == 0)
    y++;
  pthread_mutex_unlock(&f1);
  return arg;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, one, 0);
  pthread_create(&b, 0, two, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
