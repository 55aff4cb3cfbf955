/* Forks while other threads are at work in the runtime: the child finds everything whole, also before the handlers of the program run.
 * prints: 0 children failed */
#include "hooks.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int cells[100], count;
static volatile int stop;
static void add(void)
{
    void *token = __raddle_atomic_enter(&count, 4, 2, 5, 0, 9);
    __atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST);
    __raddle_atomic_leave(token, 1);
}
static void *nothing(void *p)
{
    add();
    return p;
}
static void one(void)
{
    pthread_t t;
    pthread_create(&t, 0, nothing, 0);
    pthread_join(t, 0);
    free(malloc(100));
    add();
}
static void *run(void *p)
{
    for (int i = 0; !stop; i++) {
        pthread_mutex_lock(&m);
        W(cells[i % 100], i, 1);
        pthread_mutex_unlock(&m);
        add();
        if (i % 16 == 0)
            one();
    }
    return p;
}
int main(void)
{
    int failed = 0, status;
    pthread_t t[4];
    pthread_atfork(0, 0, add);
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], 0, run, 0);
    for (int i = 0; i < 150; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(10);
            one();
            _exit(7);
        }
        waitpid(child, &status, 0);
        failed += !WIFEXITED(status) || WEXITSTATUS(status) != 7;
    }
    stop = 1;
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], 0);
    printf("%d children failed\n", failed);
}
