#include "race.h"
int main(void)
{
    race();
    abort();
}
