#include "race.h"
int main(void)
{
    char line[100];
    while (fgets(line, sizeof line, stdin))
        printf("<%s", line);
    race();
    return 0;
}
