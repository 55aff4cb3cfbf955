// `server SOCKET`: a thread for each connection, until it is killed; with a second word it ignores SIGTERM.
// `server SOCKET w` and `server SOCKET r`: its clients.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count, last;

static void *serve(void *connection) {
	int fd = (int)(long)connection;
	char request = 0;
	if (read(fd, &request, 1) == 1) {
		if (request == 'w')
			last = 1;
		pthread_mutex_lock(&mutex);
		count++;
		pthread_mutex_unlock(&mutex);
		if (request == 'r')
			last = 2;
		write(fd, &request, 1);
	}
	close(fd);
	return NULL;
}

static int ask(struct sockaddr_un *address, char request) {
	for (int tries = 0; tries < 1000; tries++) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);
		char answer = 0;
		if (connect(fd, (struct sockaddr *)address, sizeof *address) == 0)
			return write(fd, &request, 1) == 1 && read(fd, &answer, 1) == 1 && answer == request ? 0 : 4;
		close(fd);
		usleep(20000);
	}
	return 5;
}

int main(int argc, char **argv) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	if (argc < 2)
		return 2;
	strncpy(address.sun_path, argv[1], sizeof address.sun_path - 1);
	if (argc > 2 && strlen(argv[2]) == 1)
		return ask(&address, argv[2][0]);
	if (argc > 2)
		signal(SIGTERM, SIG_IGN);
	unlink(argv[1]);
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 8) != 0)
		return 3;
	for (;;) {
		pthread_t thread;
		long fd = accept(listener, NULL, NULL);
		if (fd >= 0 && pthread_create(&thread, NULL, serve, (void *)fd) == 0)
			pthread_detach(thread);
	}
}
