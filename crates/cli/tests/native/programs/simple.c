#include "race.h"
int main(void)
{
    race();
    puts("done");
    return 7;
}
