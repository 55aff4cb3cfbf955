// A semaphore that starts at 1 and is posted by its holder is a lock; others are not.
#include <pthread.h>
#include <semaphore.h>
void locks(const char *);
static sem_t s, twice, loose, signal;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void p(sem_t *x) { sem_wait(x); }
static void v(sem_t *x) { sem_post(x); }

static void *worker(void *arg)
{
    locks("");
    sem_wait(&s);
    locks("s");
    pthread_mutex_lock(&m);
    locks("m s");
    pthread_mutex_unlock(&m);
    sem_post(&s);
    locks("");
    if (sem_trywait(&s) == 0) {
        locks("s");
        sem_post(&s);
    }
    p(&s);
    locks("s");
    v(&s);
    sem_wait(&twice);
    locks("");
    sem_post(&twice);
    sem_wait(&loose);
    locks("");
    sem_post(&loose);
    sem_wait(&signal);
    locks("");
    pthread_mutex_lock(&m);
    sem_wait(&s);
    locks("m s");
    sem_post(&s);
    locks("m");
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    sem_init(&s, 0, 1);
    sem_init(&twice, 0, 2);
    sem_init(&loose, 0, 1);
    sem_init(&signal, 0, 0);
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    sem_post(&loose);
    sem_post(&signal);
    sem_post(&signal);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
