// Who runs the program is asked of the system, as a run of its own would.
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    printf("%ld %ld %ld %ld\n", (long)getuid(), (long)geteuid(), (long)getgid(), (long)getegid());
    return getuid() == 0 ? 3 : 4;
}
