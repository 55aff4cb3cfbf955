#include "counter.h"
static int counter;
void count(void)
{
    counter++;
}
int counted(void)
{
    return counter;
}
