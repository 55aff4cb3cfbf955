/* Only the child races. */
#include "race.h"
#include <sys/wait.h>
int main(void)
{
    pid_t child = fork();
    if (child == 0) {
        race();
        exit(3);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("child ended with %d\n", WEXITSTATUS(status));
    return 0;
}
