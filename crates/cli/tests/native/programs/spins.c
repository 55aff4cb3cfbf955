/* Ignores the wish to end. */
#include "race.h"
#include <signal.h>
int main(void)
{
    signal(SIGTERM, SIG_IGN);
    race();
    for (;;)
        ;
}
