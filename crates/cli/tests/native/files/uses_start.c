#include <stdio.h>
int from_assembly(void);
int main(void) {
    printf("%d\n", from_assembly());
    return 0;
}
