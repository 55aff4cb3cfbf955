// Clang keeps the body of `bump` back. It is numbered between the functions that use it, and so are the sites of its refusal.
static int counter;

__attribute__((noinline)) inline void bump(int amount)
{
    counter += amount;
}

void first(void)
{
    bump(1); // IS: call bump(_)
}

int main(void)
{
    bump(2); // IS: call bump(_)
    return counter; // IS: load counter
}
