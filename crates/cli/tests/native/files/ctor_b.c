#include <stdio.h>
__attribute__((constructor)) static void second(void) { puts("second"); }
