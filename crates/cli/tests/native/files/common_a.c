#include <stdio.h>
int shared_number;
void set(void);
int main(void) {
    set();
    printf("%d\n", shared_number);
    return 0;
}
