int printf();

int total;
int total;

add(a, b)
int a, b;
{
    return a + b;
}

double half(x)
double x;
{
    return x / 2;
}

char *name()
{
    return "old";
}

noreturnvalue(n)
{
    total += n;
}

main()
{
    register i;
    for (i = 0; i < 4; i++)
        noreturnvalue(i);
    printf("%d %d %g %s\n", total, add(2, 3), half(7.0), name());
    return 0;
}
