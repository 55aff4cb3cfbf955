//@ verdict: race
//@ deadlocks: none
// Hand-over-hand locking; the writer lets go of the second node one statement too early.
#include <pthread.h>
#include <unistd.h>

struct node {
    pthread_mutex_t lock;
    int value;
};
static struct node list[3] = {
    {PTHREAD_MUTEX_INITIALIZER, 0},
    {PTHREAD_MUTEX_INITIALIZER, 0},
    {PTHREAD_MUTEX_INITIALIZER, 0},
};
int sum;

static void *writer(void *arg)
{
    pthread_mutex_lock(&list[0].lock);
    pthread_mutex_lock(&list[1].lock);
    pthread_mutex_unlock(&list[0].lock);
    pthread_mutex_unlock(&list[1].lock);
    list[1].value = 5; // RACE#1: list[1].value
    return arg;
}

static void *reader(void *arg)
{
    usleep(50000);
    pthread_mutex_lock(&list[0].lock);
    pthread_mutex_lock(&list[1].lock);
    pthread_mutex_unlock(&list[0].lock);
    sum = list[1].value; // RACE#1: list[1].value
    pthread_mutex_unlock(&list[1].lock);
    return arg;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, writer, NULL);
    pthread_create(&t, NULL, reader, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return sum < 0;
}
