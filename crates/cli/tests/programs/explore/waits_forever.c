// Nobody signals: spurious wake-ups lead back to the wait.
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int main(void) {
  pthread_mutex_lock(&m);
  for (;;) pthread_cond_wait(&c, &m);
  return 0;
}
