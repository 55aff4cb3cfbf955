// Vectors are their lanes.
typedef int int4 __attribute__((vector_size(16)));
typedef float float4 __attribute__((vector_size(16)));
int4 a, b;
float4 f;
struct floats { float x, y; } pair;

void lanes(int i)
{
    a = a + b; // IS: load a[0]; load a[1]; load a[2]; load a[3]; load b[0]; load b[1]; load b[2]; load b[3]; store a[0]; store a[1]; store a[2]; store a[3]
    b[2] = 1; // IS: load b[0]; load b[1]; load b[2]; load b[3]; store b[0]; store b[1]; store b[2]; store b[3]
    int bits = __builtin_popcount(i); // IS: CtPop
    int sum = 0;
    __builtin_add_overflow(i, bits, &sum); // IS: SAddOverflow
}
