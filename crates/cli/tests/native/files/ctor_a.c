#include <stdio.h>
__attribute__((constructor)) static void first(void) { puts("first"); }
int main(void) { return 0; }
