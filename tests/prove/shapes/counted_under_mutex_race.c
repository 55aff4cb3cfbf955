//@ verdict: race
//@ threads: any
// A thread counts itself as done before it is.
#include <pthread.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_done = PTHREAD_COND_INITIALIZER;
static unsigned done;
static unsigned x;

static void *thread(void *arg)
{
    pthread_mutex_lock(&m);
    done++; // NORACE: done
    pthread_cond_signal(&all_done);
    pthread_mutex_unlock(&m);
    x++; // RACE#1: x; RACE#2: x
    return arg;
}

int main(void)
{
    unsigned n = __VERIFIER_nondet_uint();
    for (unsigned i = 0; i < n; i++) {
        pthread_t t;
        pthread_create(&t, NULL, thread, NULL);
        pthread_detach(t);
    }
    pthread_mutex_lock(&m);
    while (done < n) // NORACE: done
        pthread_cond_wait(&all_done, &m);
    pthread_mutex_unlock(&m);
    return x == n; // RACE#1: x
}
