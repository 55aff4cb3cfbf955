#include "race.h"
int main(void)
{
    race();
    *(volatile int *)16 = 1;
    return 0;
}
