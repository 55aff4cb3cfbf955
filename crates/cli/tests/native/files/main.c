#include "twice.h"
#include <stdio.h>
int main(void) {
    printf("%d\n", twice(21));
    return 0;
}
