// Thousands of critical sections, and races behind them: each race that the search sees is confirmed in a rearranged execution.
//@ limits: check --time-limit 3
//@ limits: explore --search pdp --time-limit 3
//@ limits: explore --time-limit 3
//@ limits: check --memory-limit 200M --time-limit 60
#include <pthread.h>
pthread_mutex_t m[8] = {PTHREAD_MUTEX_INITIALIZER,PTHREAD_MUTEX_INITIALIZER,PTHREAD_MUTEX_INITIALIZER,PTHREAD_MUTEX_INITIALIZER,PTHREAD_MUTEX_INITIALIZER,PTHREAD_MUTEX_INITIALIZER,PTHREAD_MUTEX_INITIALIZER,PTHREAD_MUTEX_INITIALIZER};
int a[8][4], racy[64];
void *worker(void *arg) {
    long id = (long)arg;
    for (int i = 0; i < 6000; i++) {
        pthread_mutex_lock(&m[i % 8]);
        a[i % 8][id]++;
        pthread_mutex_unlock(&m[i % 8]);
    }
    for (int i = 0; i < 64; i++) racy[i] = (int)id;
    return 0;
}
int main(void) {
    pthread_t t[3];
    for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
