#include <stdio.h>

static double _Complex twice(double _Complex z) { return z + z; }
static float _Complex halve(float _Complex z) { return z / 2; }

int main(void)
{
    double _Complex z = 1.5 + 2.0 * 1.0i;
    z = twice(z) * z;
    printf("%g %g\n", __real__ z, __imag__ z);
    float _Complex f = halve(3.0f - 5.0fi);
    printf("%g %g\n", (double)__real__ f, (double)__imag__ f);
    printf("%d %d\n", z == twice(z), z != 0);
    return 0;
}
