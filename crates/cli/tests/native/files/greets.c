#include <stdio.h>
#include <string.h>
#ifndef GREETING
#define GREETING "hi"
#endif
int main(void) {
    char text[32];
    strcpy(text, GREETING);
    puts(text);
    return 0;
}
