// Finds what the run before has left, and goes another way then. Else as in tests/predict/scenarios/commute_write_write.c.
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x, y;

static void *first(void *arg) {
	x = 1;
	pthread_mutex_lock(&m);
	y = 1;
	pthread_mutex_unlock(&m);
	return arg;
}

static void *second(void *arg) {
	usleep(50000);
	pthread_mutex_lock(&m);
	y = 2;
	pthread_mutex_unlock(&m);
	x = 2;
	return arg;
}

int main(void) {
	pthread_t s, t;
	int left = access("left", F_OK) == 0;
	close(open("left", O_CREAT | O_WRONLY, 0600));
	if (left) {
		pthread_mutex_lock(&m);
		y = 3;
		pthread_mutex_unlock(&m);
	}
	pthread_create(&s, NULL, first, NULL);
	pthread_create(&t, NULL, second, NULL);
	pthread_join(s, NULL);
	pthread_join(t, NULL);
	return x < 0;
}
