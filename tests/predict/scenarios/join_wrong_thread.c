//@ verdict: race
//@ deadlocks: none
// Main joins the helper and reads the result of the worker.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int result, done;

static void *worker(void *arg)
{
    result = 6; // RACE#1: result
    pthread_mutex_lock(&m);
    done++;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *helper(void *arg)
{
    usleep(50000);
    pthread_mutex_lock(&m);
    done++;
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t s, t;
    int out;
    pthread_create(&s, NULL, worker, NULL);
    pthread_create(&t, NULL, helper, NULL);
    pthread_join(t, NULL);
    out = result; // RACE#1: result
    pthread_join(s, NULL);
    return out < 0;
}
