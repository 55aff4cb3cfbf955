#include "race.h"
#include <signal.h>
static volatile sig_atomic_t seen;
static void handler(int number)
{
    seen += number != 0;
}
int main(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 100; i++)
        raise(SIGUSR1);
    race();
    printf("%d\n", (int)seen);
    return 0;
}
