// clang writes out how arguments are fetched; only start, copy and end are left.
typedef __builtin_va_list va_list;
int sum(int n, ...)
{
    va_list list, other;
    __builtin_va_start(list, n); // IS: va_start
    __builtin_va_copy(other, list); // IS: va_copy
    __builtin_va_end(list); // IS: va_end
    return n;
}
