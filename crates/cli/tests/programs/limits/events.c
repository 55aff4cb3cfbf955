// A race between accesses that are made hundreds of thousands of times in order, and once without.
//@ limits: check --time-limit 3
//@ limits: explore --time-limit 1
//@ limits: check --memory-limit 200M --time-limit 60
#include <pthread.h>
#define N 400000
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int a[N + 1], done;
static void put(int i) { a[i] = i; }
static int get(int i) { return a[i]; }
void *writer(void *arg) {
    put(N);
    pthread_mutex_lock(&m);
    for (int i = 0; i < N; i++) put(i);
    done = 1;
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void) {
    pthread_t t;
    int s = 0;
    pthread_create(&t, 0, writer, 0);
    pthread_mutex_lock(&m);
    if (done) for (int i = 0; i < N; i++) s += get(i);
    pthread_mutex_unlock(&m);
    s += get(N);
    pthread_join(t, 0);
    return s == 1;
}
