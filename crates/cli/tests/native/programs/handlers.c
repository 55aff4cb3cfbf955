/* Order into signal handlers. Each way: one thread writes `data` and then sends a signal, the handler reads it in another thread. `race`
   ways do something that gives no order. Timing is by sleeping, which orders nothing. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static int data;
static volatile sig_atomic_t handled;
static int seen;
static pthread_t receiving;
static const char *way;
static int is(const char *name) { return strcmp(way, name) == 0; }
static void fail(const char *what)
{
    fprintf(stderr, "wrong: %s\n", what);
    exit(9);
}
static void handler(int number)
{
    seen = data;
    handled = number;
}
static void with_info(int number, siginfo_t *info, void *context)
{
    if (info->si_value.sival_int != 7 || !context)
        fail("information");
    handler(number);
}
static void nothing(int number) { (void)number; }
static void install(void)
{
    struct sigaction action = { .sa_handler = handler }, old;
    if (is("sigqueue")) {
        action.sa_sigaction = with_info;
        action.sa_flags = SA_SIGINFO;
    }
    if (is("signal")) {
        if (signal(SIGUSR1, nothing) != SIG_DFL || signal(SIGUSR1, handler) != nothing)
            fail("signal");
        return;
    }
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGUSR1, NULL, &old);
    if (old.sa_handler != action.sa_handler || (old.sa_flags & SA_SIGINFO) != action.sa_flags)
        fail("old action");
    signal(SIGUSR2, SIG_IGN);
    if (signal(SIGUSR2, nothing) != SIG_IGN || signal(SIGUSR2, SIG_IGN) != nothing || sigaction(SIGKILL, &action, NULL) == 0)
        fail("others");
}
static void *sender(void *unused)
{
    union sigval value = { .sival_int = 7 };
    if (is("race-later")) {
        pthread_kill(receiving, SIGUSR1);
        usleep(300000);
        data = 1;
        return NULL;
    }
    data = 1;
    if (is("kill") || is("signal")) {
        kill(getpid(), SIGUSR1);
    } else if (is("pthread_kill")) {
        pthread_kill(receiving, SIGUSR1);
    } else if (is("sigqueue")) {
        sigqueue(getpid(), SIGUSR1, value);
    } else if (is("install")) {
        install();
    } else if (is("setitimer")) {
        struct itimerval soon = { .it_value.tv_usec = 10000 };
        setitimer(ITIMER_REAL, &soon, NULL);
    } else if (is("timer")) {
        struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
        struct itimerspec soon = { .it_value.tv_nsec = 10000000 };
        timer_t timer;
        timer_create(CLOCK_MONOTONIC, &event, &timer);
        timer_settime(timer, 0, &soon, NULL);
    } else if (is("race-other")) {
        kill(getpid(), SIGUSR2);
    }
    return unused;
}
static void *receiver(void *unused)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    while (!handled)
        usleep(1000);
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t a;
    sigset_t set;
    way = argv[1];
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (!is("install"))
        install();
    pthread_create(&receiving, NULL, receiver, NULL);
    pthread_create(&a, NULL, sender, NULL);
    if (is("install") || is("race-other")) {
        usleep(300000);
        pthread_kill(receiving, SIGUSR1);
    }
    pthread_join(receiving, NULL);
    pthread_join(a, NULL);
    printf("%s %d\n", way, seen);
    return argc != 2;
}
