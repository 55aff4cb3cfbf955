#include <stdio.h>
#include <math.h>
#include <float.h>

static volatile double zero;

int main(void)
{
    float f = 1.1f;
    double d = 2.2;
    printf("%f %f %.9g %.17g\n", f, d, f * 3, d * 3);
    printf("%e %g %G %a\n", 12345.678, 0.0001234, 1e20, 1.5);
    printf("%10.3f|%-10.2e|%+g|% g|%#g|%010.1f\n", 3.14159, 2718.28, 1.0, 2.0, 3.0, -4.25);
    printf("%.0f %.0f %.0f %.0f\n", 0.5, 1.5, 2.5, -0.5);
    printf("%g %g %g %g\n", 1 / zero, -1 / zero, DBL_MAX, DBL_MIN);
    printf("%d %d %d\n", isnan(zero / zero) != 0, zero / zero == zero / zero, 1.0 < zero / zero);
    printf("%d %d %u %lld\n", (int)3.99, (int)-3.99, (unsigned)4e9, (long long)-1e15);
    printf("%.17g %.17g %.9g\n", (double)(unsigned long long)1e19, (double)-123456789012345ll, (float)16777217);
    printf("%g %g %g\n", fabs(-2.5), sqrt(2.0), floor(-1.5));
    printf("%.6f %.6f %.6f %.6f\n", sin(1.0), cos(1.0), exp(1.0), log(10.0));
    printf("%.10g %.10g\n", pow(2.0, 0.5), fmod(7.5, 2.0));
    printf("%.20f\n", 0.1);
    printf("%5.1f|%-8.3f|%08.2f\n", 9.96, 1.0005, -3.14159);
    printf("%g %g %g\n", 100000.0, 1000000.0, 1e-5);
    float sum = 0;
    for (int i = 1; i <= 100; i++)
        sum += 1.0f / i;
    printf("%.9g\n", sum);
    double acc = 0;
    for (int i = 1; i <= 1000; i++)
        acc += 1.0 / i / i;
    printf("%.17g\n", acc);
    printf("%d %d\n", f < d, (float)d == d);
    printf("%g\n", copysign(3.0, -0.0));
    printf("%d\n", signbit(-0.0) != 0);
    return 0;
}
