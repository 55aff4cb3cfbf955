// What has no meaning in the IR says so where it stands.
//@ models: lp64
unsigned _BitInt(200) huge;
int x;

void refusals(void)
{
    huge += 1; // IS: unsupported result of a type that is not supported; unsupported result of a type that is not supported; unsupported result of a type that is not supported; unsupported result of a type that is not supported; unsupported integer wider than 128 bits
    __builtin_return_address(0); // IS: unsupported intrinsic llvm.returnaddress
    x = 1; // IS: store x
}

int jumps(void)
{
    __asm__ goto("jmp %l0" : : : : out); // IS: unsupported asm goto
    return 1;
out:
    return 2;
}

int joins(int n)
{
    int result = n;
    __asm__ goto("jmp %l0" : : : : out); // IS: unsupported asm goto
    result = x; // IS: load x
out:
    return result;
}
