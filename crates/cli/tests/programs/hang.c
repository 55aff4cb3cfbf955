// Waits for a flag that nobody sets.
static volatile int flag;

int main(void)
{
    while (!flag)
        ;
    return 0;
}
