/* Order through descriptors. Each way: one thread writes `data` and then to a descriptor, the other reads there and then `data`. `race`
   ways do something that gives no order. Timing is by sleeping, which orders nothing. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

static int data, other;
static int in, out, extra_in, extra_out;
static const char *way;
static int is(const char *name) { return strcmp(way, name) == 0; }
/* In `race-alone-NAME`, main does what would give order, and the writer only writes `data`. */
#define ALONE "race-alone-"
static int is_alone(void) { return strncmp(way, ALONE, strlen(ALONE)) == 0; }
static int by(const char *name) { return strcmp(is_alone() ? way + strlen(ALONE) : way, name) == 0; }
static void fail(const char *what)
{
    perror(what);
    exit(9);
}
static void take(int fd, size_t bytes)
{
    char buffer[64];
    for (size_t got = 0; got < bytes;) {
        ssize_t n = read(fd, buffer, bytes - got);
        if (n <= 0)
            fail("read");
        got += (size_t)n;
    }
}
static void put(int fd, size_t bytes)
{
    char buffer[64] = { 1 };
    if (write(fd, buffer, bytes) != (ssize_t)bytes)
        fail("write");
}
static void tcp(int *client, int *server)
{
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof at;
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 5)
        || getsockname(listener, (struct sockaddr *)&at, &length))
        fail("listen");
    *client = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(*client, (struct sockaddr *)&at, sizeof at))
        fail("connect");
    *server = accept(listener, NULL, NULL);
    close(listener);
}
static void local(int *client, int *server)
{
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = "./socket" };
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 5))
        fail("listen");
    *client = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(*client, (struct sockaddr *)&at, sizeof at))
        fail("connect");
    *server = accept(listener, NULL, NULL);
    unlink("./socket");
}
static void udp(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof at;
    in = socket(AF_INET, SOCK_DGRAM, 0);
    out = socket(AF_INET, SOCK_DGRAM, 0);
    if (bind(in, (struct sockaddr *)&at, sizeof at) || getsockname(in, (struct sockaddr *)&at, &length)
        || connect(out, (struct sockaddr *)&at, length))
        fail("datagrams");
}
static void open_all(void)
{
    int pair[2];
    if (is("eventfd") || is("epoll")) {
        in = out = eventfd(0, 0);
    } else if (by("timer")) {
        in = out = timerfd_create(CLOCK_MONOTONIC, 0);
    } else if (by("signal") || by("signalfd")) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGUSR1);
        pthread_sigmask(SIG_BLOCK, &set, NULL);
        in = signalfd(-1, &set, 0);
    } else if (by("inotify")) {
        in = inotify_init1(0);
        if (inotify_add_watch(in, ".", IN_CREATE) < 0)
            fail("inotify");
    } else if (is("pair") || is("messages") || is("race-message")) {
        if (socketpair(AF_UNIX, is("pair") ? SOCK_STREAM : SOCK_DGRAM, 0, pair))
            fail("socketpair");
        in = pair[0], out = pair[1];
    } else if (is("tcp") || is("race-connections")) {
        tcp(&out, &in);
        tcp(&extra_out, &extra_in);
    } else if (is("local")) {
        local(&out, &in);
    } else if (is("udp")) {
        udp();
    } else {
        if (pipe(pair))
            fail("pipe");
        in = pair[0], out = pair[1];
        if (pipe(pair))
            fail("pipe");
        extra_in = pair[0], extra_out = pair[1];
    }
}
/* What a timer, a signal or a watched file needs. */
static int notify(void)
{
    if (by("timer")) {
        struct itimerspec soon = { .it_value.tv_nsec = 1000000 };
        timerfd_settime(out, 0, &soon, NULL);
    } else if (by("signal") || by("signalfd")) {
        kill(getpid(), SIGUSR1);
    } else if (by("inotify")) {
        unlink("./watched");
        close(open("./watched", O_CREAT | O_WRONLY, 0600));
    } else {
        return 0;
    }
    return 1;
}
static void *writer(void *unused)
{
    data = 1;
    if (is_alone() || notify()) {
    } else if (is("dup")) {
        put(fcntl(dup(out), F_DUPFD, 50), 8);
    } else if (is("vector")) {
        char bytes[8] = { 0 };
        struct iovec parts[2] = { { bytes, 3 }, { bytes, 5 } };
        if (writev(out, parts, 2) != 8)
            fail("writev");
    } else if (is("end")) {
        close(out);
    } else if (is("stream")) {
        FILE *stream = fdopen(out, "w");
        fprintf(stream, "12345678");
        fclose(stream);
    } else if (is("race-position") || is("race-message")) {
        /* The other thread takes only the first. */
        data = 0;
        put(out, 8);
        data = 1;
        put(out, 8);
    } else if (is("race-pipes") || is("race-connections")) {
        put(extra_out, 8);
    } else {
        put(out, 8);
    }
    return NULL;
}
static void wait_for(int fd)
{
    if (is("poll")) {
        struct pollfd one = { fd, POLLIN, 0 };
        poll(&one, 1, -1);
    } else if (is("select")) {
        fd_set set;
        FD_ZERO(&set);
        FD_SET(fd, &set);
        select(fd + 1, &set, NULL, NULL, NULL);
    }
}
static void *reader(void *unused)
{
    struct signalfd_siginfo info;
    char events[512];
    if (is("race-position") || is("race-message") || is("race-pipes") || is("race-connections"))
        usleep(300000);
    if (by("signal")) {
        int got;
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGUSR1);
        sigwait(&set, &got);
    } else if (by("signalfd")) {
        if (read(in, &info, sizeof info) != sizeof info)
            fail("read");
    } else if (by("inotify")) {
        if (read(in, events, sizeof events) <= 0)
            fail("read");
    } else if (is("end")) {
        if (read(in, events, 1) != 0)
            fail("read");
    } else if (is("epoll")) {
        /* Told once by the edge; never read. */
        struct epoll_event event = { EPOLLIN | EPOLLET, { .fd = in } };
        int epoll = epoll_create1(0);
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, in, &event) || epoll_wait(epoll, &event, 1, -1) != 1)
            fail("epoll");
    } else if (is("race-pipes") || is("race-connections")) {
        /* Nothing was written by the writer here, and what main wrote came before. */
        take(in, 8);
    } else if (is("poll") || is("select")) {
        wait_for(in);
    } else {
        take(in, 8);
    }
    other = data;
    return NULL;
}
int main(int argc, char **argv)
{
    pthread_t a, b;
    way = argv[1];
    alarm(20);
    open_all();
    if (is("race-pipes") || is("race-connections"))
        put(out, 8);
    if (is_alone())
        notify();
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%s %d\n", way, other);
    return 0;
}
