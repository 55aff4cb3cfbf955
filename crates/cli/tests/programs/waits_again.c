// A condition variable on the stack, destroyed, and again one at the same address: as std::condition_variable, whose constructor
// calls nothing. The race of x is that of tests/predict/scenarios/commute_write_write.c.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t *waiting;
static int turn, x;

static void wait_for(int mine) {
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	pthread_mutex_lock(&m);
	waiting = &c;
	while (turn < mine)
		pthread_cond_wait(&c, &m);
	waiting = NULL;
	pthread_mutex_unlock(&m);
	pthread_cond_destroy(&c);
}

static void *waiter(void *arg) {
	wait_for(1);
	wait_for(2);
	x = 1;
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	return arg;
}

int main(void) {
	pthread_t t;
	pthread_create(&t, NULL, waiter, NULL);
	for (int next = 1; next <= 2; next++) {
		usleep(50000);
		pthread_mutex_lock(&m);
		turn = next;
		if (waiting)
			pthread_cond_signal(waiting);
		pthread_mutex_unlock(&m);
	}
	usleep(50000);
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	x = 2;
	pthread_join(t, NULL);
	return x < 0;
}
