// What the cases need: the headers, and helpers that make a call succeed.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <err.h>
#include <error.h>
#include <fcntl.h>
#include <getopt.h>
#include <libintl.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <syslog.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

int __xpg_strerror_r(int number, char *buffer, size_t size);
char *__xpg_basename(char *path);
char *dirname(char *path);
int __printf_chk(int flag, const char *format, ...);
int __fprintf_chk(FILE *stream, int flag, const char *format, ...);
int __dprintf_chk(int descriptor, int flag, const char *format, ...);
int __sprintf_chk(char *target, int flag, size_t room, const char *format, ...);
int __snprintf_chk(char *target, size_t size, int flag, size_t room, const char *format, ...);
int __asprintf_chk(char **target, int flag, const char *format, ...);
char *__fgets_chk(char *target, size_t room, int size, FILE *stream);
size_t __fread_chk(void *target, size_t room, size_t size, size_t count, FILE *stream);
ssize_t __read_chk(int descriptor, void *target, size_t size, size_t room);

static int null_device;

static FILE *open_text(const char *text) {
    FILE *file = tmpfile();
    fputs(text, file);
    rewind(file);
    return file;
}

static int open_bytes(const char *text) {
    FILE *file = open_text(text);
    fflush(file);
    lseek(fileno(file), 0, SEEK_SET);
    return fileno(file);
}

static int bound_socket(int kind, struct sockaddr_in *address) {
    socklen_t bytes = sizeof *address;
    int made = socket(AF_INET, kind, 0);
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(made, (struct sockaddr *)address, bytes);
    getsockname(made, (struct sockaddr *)address, &bytes);
    return made;
}

static int datagram_socket(struct sockaddr_in *address) {
    return bound_socket(SOCK_DGRAM, address);
}

static int listening_socket(struct sockaddr_in *address) {
    int made = bound_socket(SOCK_STREAM, address);
    listen(made, 1);
    return made;
}

static int compare_int(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

static int compare_int_r(const void *a, const void *b, void *context) {
    (void)context;
    return compare_int(a, b);
}

static void *nothing(void *argument) { return argument; }

static int nothing_int(void *argument) {
    (void)argument;
    return 0;
}
