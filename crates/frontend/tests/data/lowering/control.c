// Switches, computed goto, old and new ways of leaving.
int choose(int n)
{
    switch (n) { // IS: switch 6
    case -1: return 9;
    case 1 ... 3: return 1;
    case 4: case 5: n++;
    default: return n;
    }
}

int jump(int n) // IS: goto one of 2
{
    static const void *const targets[] = { &&one, &&two, &&one };
    goto *targets[n]; // IS: load targets[n]
one:
    return 1;
two:
    return 2;
}

int stops(int n)
{
    if (n)
        __builtin_trap(); // IS: call abort()
    return __builtin_expect(n, 1);
}
